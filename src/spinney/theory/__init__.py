"""The mathematics of ensembles, on arrays: margins, bounds, games, certificates, committees."""

from spinney.theory.bias_variance import bias_variance as bias_variance
from spinney.theory.bounds import TrainingErrorBounds as TrainingErrorBounds
from spinney.theory.bounds import guaranteed_margin as guaranteed_margin
from spinney.theory.bounds import margin_markov as margin_markov
from spinney.theory.bounds import margin_theorem as margin_theorem
from spinney.theory.bounds import rounds_needed as rounds_needed
from spinney.theory.bounds import training_error_bounds as training_error_bounds
from spinney.theory.bounds import upsilon as upsilon
from spinney.theory.certificates import Certificate as Certificate
from spinney.theory.certificates import CertificateReport as CertificateReport
from spinney.theory.certificates import certify as certify
from spinney.theory.committee import CommitteeError as CommitteeError
from spinney.theory.committee import SamplingCorrelation as SamplingCorrelation
from spinney.theory.committee import committee_error as committee_error
from spinney.theory.committee import committee_variance as committee_variance
from spinney.theory.committee import sampling_correlation as sampling_correlation
from spinney.theory.complexity import Complexity as Complexity
from spinney.theory.complexity import log_growth as log_growth
from spinney.theory.complexity import massart_complexity as massart_complexity
from spinney.theory.complexity import matrix_rademacher as matrix_rademacher
from spinney.theory.complexity import stump_rademacher as stump_rademacher
from spinney.theory.complexity import vc_complexity as vc_complexity
from spinney.theory.complexity import vc_dimension as vc_dimension
from spinney.theory.confusion import Confusion as Confusion
from spinney.theory.confusion import confusion as confusion
from spinney.theory.decompositions import decompose_squared as decompose_squared
from spinney.theory.decompositions import decompose_zero_one as decompose_zero_one
from spinney.theory.diversity import Diversity as Diversity
from spinney.theory.diversity import diversity as diversity
from spinney.theory.error_parts import BiasVariance as BiasVariance
from spinney.theory.forests import Strength as Strength
from spinney.theory.forests import forest_strength as forest_strength
from spinney.theory.forests import forest_variance as forest_variance
from spinney.theory.games import GameSolution as GameSolution
from spinney.theory.games import Separability as Separability
from spinney.theory.games import hedge_regret_bound as hedge_regret_bound
from spinney.theory.games import play_hedge as play_hedge
from spinney.theory.games import separability as separability
from spinney.theory.games import solve_game as solve_game
from spinney.theory.games import weak_learnability as weak_learnability
from spinney.theory.geometry import dual_exponent as dual_exponent
from spinney.theory.geometry import dual_norm as dual_norm
from spinney.theory.geometry import lq_distance as lq_distance
from spinney.theory.geometry import nearest_on_plane as nearest_on_plane
from spinney.theory.learning_curves import LearningCurve as LearningCurve
from spinney.theory.learning_curves import learning_curve as learning_curve
from spinney.theory.learning_curves import out_of_bag_curve as out_of_bag_curve
from spinney.theory.majority import VoteError as VoteError
from spinney.theory.majority import majority_accuracy as majority_accuracy
from spinney.theory.majority import majority_limits as majority_limits
from spinney.theory.majority import vote_error as vote_error
from spinney.theory.margins import MarginDistribution as MarginDistribution
from spinney.theory.margins import binary_margins as binary_margins
from spinney.theory.margins import margin_distribution as margin_distribution
from spinney.theory.margins import vote_margins as vote_margins
from spinney.theory.mislabels import SuspectRows as SuspectRows
from spinney.theory.mislabels import detect_mislabels as detect_mislabels
from spinney.theory.mislabels import mislabel_scores as mislabel_scores
from spinney.theory.ranking_curves import PrecisionRecallCurve as PrecisionRecallCurve
from spinney.theory.ranking_curves import RocCurve as RocCurve
from spinney.theory.ranking_curves import precision_recall_curve as precision_recall_curve
from spinney.theory.ranking_curves import roc_curve as roc_curve
from spinney.theory.ranking_quality import RankingQuality as RankingQuality
from spinney.theory.ranking_quality import average_precision as average_precision
from spinney.theory.ranking_quality import ndcg as ndcg
from spinney.theory.residuals import Residuals as Residuals
from spinney.theory.residuals import residuals as residuals
from spinney.theory.risk import MarginRisk as MarginRisk
from spinney.theory.risk import combined_vc_dimension as combined_vc_dimension
from spinney.theory.risk import margin_risk as margin_risk
from spinney.theory.risk import sample_complexity as sample_complexity
from spinney.theory.risk import vc_risk as vc_risk
from spinney.theory.second_order import leaf_output as leaf_output
from spinney.theory.second_order import similarity as similarity
from spinney.theory.second_order import split_gain as split_gain
from spinney.theory.statements import Statement as Statement
from spinney.theory.trace import DescentTrace as DescentTrace
from spinney.theory.trace import MedianTrace as MedianTrace
from spinney.theory.trace import Trace as Trace
from spinney.theory.training_sets import BootstrapSets as BootstrapSets
from spinney.theory.training_sets import FoldSets as FoldSets
from spinney.theory.training_sets import FreshSets as FreshSets

__all__: list[str] = [
    "BiasVariance",
    "BootstrapSets",
    "Certificate",
    "CertificateReport",
    "CommitteeError",
    "Complexity",
    "Confusion",
    "DescentTrace",
    "Diversity",
    "FoldSets",
    "FreshSets",
    "GameSolution",
    "LearningCurve",
    "MarginDistribution",
    "MarginRisk",
    "MedianTrace",
    "PrecisionRecallCurve",
    "Residuals",
    "RocCurve",
    "SamplingCorrelation",
    "Separability",
    "Statement",
    "Strength",
    "SuspectRows",
    "Trace",
    "TrainingErrorBounds",
    "VoteError",
    "bias_variance",
    "binary_margins",
    "certify",
    "combined_vc_dimension",
    "committee_error",
    "committee_variance",
    "confusion",
    "decompose_squared",
    "decompose_zero_one",
    "detect_mislabels",
    "diversity",
    "dual_exponent",
    "dual_norm",
    "forest_strength",
    "forest_variance",
    "guaranteed_margin",
    "hedge_regret_bound",
    "leaf_output",
    "learning_curve",
    "log_growth",
    "lq_distance",
    "majority_accuracy",
    "majority_limits",
    "margin_distribution",
    "margin_markov",
    "margin_risk",
    "margin_theorem",
    "massart_complexity",
    "matrix_rademacher",
    "mislabel_scores",
    "nearest_on_plane",
    "out_of_bag_curve",
    "play_hedge",
    "precision_recall_curve",
    "residuals",
    "roc_curve",
    "rounds_needed",
    "sample_complexity",
    "sampling_correlation",
    "separability",
    "similarity",
    "solve_game",
    "split_gain",
    "stump_rademacher",
    "training_error_bounds",
    "upsilon",
    "vc_complexity",
    "vc_dimension",
    "vc_risk",
    "vote_error",
    "vote_margins",
    "weak_learnability",
]
