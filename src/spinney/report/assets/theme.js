// Light or dark: what the reader's system prefers, until the switch is used.
const themeButton = document.getElementById("theme");
const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : prefersDark.matches;
}

function showTheme() {
  themeButton.textContent = isDark() ? "Light" : "Dark";
  themeButton.setAttribute("aria-pressed", String(isDark()));
}

themeButton.addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  showTheme();
});
prefersDark.addEventListener("change", showTheme);
showTheme();

// The part of the page that is being read is marked in the navigation.
const navigation = new Map();
for (const link of document.querySelectorAll("nav a")) {
  navigation.set(link.getAttribute("href").slice(1), link);
}
const inView = new Set();
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) inView.add(entry.target.id);
    else inView.delete(entry.target.id);
  }
  let first = true;
  for (const [id, link] of navigation) {
    if (first && inView.has(id)) {
      link.setAttribute("aria-current", "true");
      first = false;
    } else {
      link.removeAttribute("aria-current");
    }
  }
}, { rootMargin: "-80px 0px -50% 0px" });
for (const part of document.querySelectorAll("main > section")) watcher.observe(part);
