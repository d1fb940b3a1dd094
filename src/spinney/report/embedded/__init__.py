"""What the page carries to answer by itself: the model and some rows."""
