import MiniSearch from 'minisearch';
import { SEARCH_OPTIONS } from './search-options.mjs';

const SHOWN = 12;
const base = new URL('..', import.meta.url);
const form = document.getElementById('search');
const field = form.querySelector('input');
const list = document.getElementById('results');
const status = document.getElementById('search-status');

let loading;
const loadIndex = () => {
  loading ??= fetch(new URL('search-index.json', base))
    .then((response) => response.text())
    .then((text) => MiniSearch.loadJSON(text, SEARCH_OPTIONS))
    .catch((error) => {
      loading = undefined; // the next input tries again
      throw error;
    });
  return loading;
};

function row({ id, page, title, excerpt }) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = new URL(id, base).href;
  const name = document.createElement('strong');
  name.textContent = title === page ? title : `${page} › ${title}`;
  const text = document.createElement('span');
  text.textContent = excerpt;
  link.append(name, text);
  item.append(link);
  return item;
}

async function search() {
  const query = field.value.trim();
  let found = [];
  let report = '';
  try {
    if (query !== '') {
      found = (await loadIndex()).search(query);
      report = found.length === 0 ? 'No results' : `${Math.min(found.length, SHOWN)} of ${found.length} results`;
    }
  } catch {
    report = 'The search index could not be loaded.';
  }
  if (query !== field.value.trim()) return; // a later input has its own answer
  list.replaceChildren(...found.slice(0, SHOWN).map(row));
  list.hidden = found.length === 0;
  status.textContent = report;
}

const close = () => {
  list.hidden = true;
  status.textContent = '';
};

form.hidden = false;
field.addEventListener('input', () => void search());
field.addEventListener('focus', () => loadIndex().catch(() => {}));
form.addEventListener('submit', (event) => {
  event.preventDefault();
  list.querySelector('a')?.click();
});
form.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    close();
    field.focus();
  }
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  const stops = [field, ...list.querySelectorAll('a')];
  const next = stops[stops.indexOf(document.activeElement) + (event.key === 'ArrowDown' ? 1 : -1)];
  if (!next) return;
  event.preventDefault();
  next.focus();
});
list.addEventListener('click', close);
addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof Element && event.target.closest('input, textarea');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  field.focus();
});
