import type { GlyphName } from '@pipeline/web/glyphs/glyph-paths.ts';
import { type Shortcut, shortcuts } from '@pipeline/web/navigation/shortcuts.ts';
import { useSignal } from '@pipeline/web/shared/use-signal.ts';
import { isState, STATES } from '@pipeline/web/states/states.ts';
import { useQuery } from '@tanstack/react-query';
import { read } from '../api/query.ts';
import { issuePath } from '../navigation/issue-path.ts';
import { PAGES } from '../navigation/pages.ts';
import { useGo } from '../navigation/use-go.ts';
import { keyText } from './key-text.ts';

/** Entry of the palette. */
export interface Entry {
  id: string;
  title: string;
  detail: string;
  glyph: GlyphName;
  open: () => void;
}

interface Found {
  entries: readonly Entry[];
  /** Note in place of a list without entries. */
  note: string;
}

/** Rendering a longer list would delay what is typed. */
const MOST_OF_A_KIND = 8;

/** @returns pages and actions whose title contains the text, and the issues that the monitor finds for it. */
export function useFound(typed: string): Found {
  const text = typed.trim().toLowerCase();
  const own = [usePages(), useActions()].map((kind) => kind.filter(({ title }) => title.toLowerCase().includes(text)));
  const issues = useIssues(text);
  const offered = text === '' ? own.flat() : own.flatMap((kind) => kind.slice(0, MOST_OF_A_KIND));
  return { entries: [...offered, ...issues.entries], note: issues.note };
}

function usePages(): Entry[] {
  const go = useGo();
  return PAGES.map(({ path, title, glyph, key, group }) => ({
    id: path,
    title,
    detail: key ? `g ${key}` : group,
    glyph,
    open: () => go(path),
  }));
}

/** Keys of pages and lists are not actions. */
const isAction = ({ keys, group }: Shortcut): boolean =>
  (group === 'Issue' || group === 'Everywhere') && keys !== 'mod+k';

/** Lists the actions of the page at the moment; the latest registration of a key wins, as for the keyboard. */
function useActions(): Entry[] {
  const byKeys = new Map(useSignal(shortcuts).map((shortcut) => [shortcut.keys, shortcut]));
  return [...byKeys.values()].filter(isAction).map(({ keys, description, run }) => ({
    id: keys,
    title: description,
    detail: keyText(keys),
    glyph: 'forced',
    open: run,
  }));
}

/** An issue number, or a term that the search of the monitor accepts. */
const isSearch = (text: string): boolean => /^#?\d+$/.test(text) || text.length >= 3;

function useIssues(text: string): Found {
  const go = useGo();
  const search = useQuery({ ...read('searchIssues', { query: { q: text, limit: 20 } }), enabled: isSearch(text) });
  if (!isSearch(text)) return { entries: [], note: 'Nothing found' };
  const entries = (search.data?.items ?? []).map(({ repo, issueNumber, title, state }) => ({
    id: `${repo}#${issueNumber}`,
    title: `#${issueNumber} ${title}`,
    detail: repo,
    glyph: isState(state) ? STATES[state].glyph : ('issues' as const),
    open: () => go(issuePath(repo, issueNumber)),
  }));
  if (search.isPending) return { entries, note: 'Searching…' };
  return {
    entries,
    note: search.error ? `The issues could not be searched: ${search.error.message}` : 'Nothing found',
  };
}
