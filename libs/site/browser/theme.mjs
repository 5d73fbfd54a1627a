// Runs before the page is painted. The choice of the reader, if there is one, wins over that of the system.
const root = document.documentElement;
const dark = matchMedia('(prefers-color-scheme: dark)');
const stored = () => {
  try {
    return localStorage.getItem('theme');
  } catch {
    return null; // storage is disabled
  }
};
const apply = () => {
  root.dataset.theme = stored() ?? (dark.matches ? 'dark' : 'light');
};
apply();
dark.addEventListener('change', apply);
addEventListener('DOMContentLoaded', () => {
  const button = document.getElementById('theme');
  button.hidden = false;
  button.addEventListener('click', () => {
    const next = root.dataset.theme === 'dark' ? 'light' : 'dark';
    try {
      localStorage.setItem('theme', next);
    } catch {
      // storage is disabled: the choice holds for this page
    }
    root.dataset.theme = next;
  });
});
