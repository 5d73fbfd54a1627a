import { Glyph } from '@pipeline/web/glyphs/glyph.tsx';
import type { GlyphName } from '@pipeline/web/glyphs/glyph-paths.ts';
import { isState, STATES } from '@pipeline/web/states/states.ts';
import { after } from '@pipeline/web/timing/timers.ts';
import { useQuery } from '@tanstack/react-query';
import { memo, useState } from 'react';
import { Autocomplete, useFilter } from 'react-aria-components/Autocomplete';
import { Dialog } from 'react-aria-components/Dialog';
import { Input } from 'react-aria-components/Input';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { SearchField } from 'react-aria-components/SearchField';
import { read } from '../api/query.ts';
import { issuePath } from '../navigation/issue-path.ts';
import { PAGES } from '../navigation/pages.ts';
import { useGo } from '../navigation/use-go.ts';
import styles from './palette.module.css';

interface Entry {
  id: string;
  title: string;
  detail: string;
  glyph: GlyphName;
  open: () => void;
}

/** An issue number, or a term that the search of the monitor accepts. */
const isSearch = (text: string): boolean => /^#?\d+$/.test(text) || text.length >= 3;

/** The command palette: opens pages, and issues by number or title. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  return (
    <ModalOverlay className={styles.scrim} isOpen isDismissable onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Modal className={styles.modal}>
        <Dialog className={styles.dialog} aria-label="Command palette">
          <Autocomplete inputValue={text} onInputChange={setText}>
            <SearchField
              aria-label="Search pages and issues"
              autoFocus
              className={styles.search}
              // The search field would only clear itself; Escape closes the palette.
              onKeyDown={(event) => event.key === 'Escape' && onClose()}
            >
              <Glyph name="search" />
              <Input
                role="combobox"
                aria-expanded
                aria-haspopup="listbox"
                className={styles.input}
                placeholder="Page, issue number or title"
              />
            </SearchField>
            <Found text={text} onClose={onClose} />
          </Autocomplete>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

/** Rendering a longer list would delay what is typed. */
const MOST_PAGES = 8;

/** What the text finds. */
const Found = memo(function Found({ text, onClose }: { text: string; onClose: () => void }) {
  const { contains } = useFilter({ sensitivity: 'base' });
  const pages = usePages(text, contains);
  const entries = [...(text === '' ? pages : pages.slice(0, MOST_PAGES)), ...useIssues(text.trim())];
  const open = (id: string): void => {
    onClose();
    // The palette is gone before the page is rendered.
    after(0, () => entries.find((entry) => entry.id === id)?.open());
  };
  return (
    <ListBox
      aria-label="Found"
      className={styles.list}
      items={entries}
      onAction={(key) => open(String(key))}
      renderEmptyState={() => <p className={styles.empty}>Nothing found</p>}
    >
      {(entry) => (
        <ListBoxItem id={entry.id} className={styles.item} textValue={entry.title}>
          <Glyph name={entry.glyph} />
          <span className={styles.title}>{entry.title}</span>
          <span className={styles.detail}>{entry.detail}</span>
        </ListBoxItem>
      )}
    </ListBox>
  );
});

function usePages(text: string, contains: (whole: string, part: string) => boolean): Entry[] {
  const go = useGo();
  return PAGES.filter(({ title }) => contains(title, text.trim())).map(({ path, title, glyph, key, group }) => ({
    id: path,
    title,
    detail: key ? `g ${key}` : group,
    glyph,
    open: () => go(path),
  }));
}

function useIssues(text: string): Entry[] {
  const go = useGo();
  const { data } = useQuery({
    ...read('searchIssues', { query: { q: text, limit: 20 } }),
    enabled: isSearch(text),
  });
  if (!isSearch(text)) return [];
  return (data?.items ?? []).map(({ repo, issueNumber, title, state }) => ({
    id: `${repo}#${issueNumber}`,
    title: `#${issueNumber} ${title}`,
    detail: repo,
    glyph: isState(state) ? STATES[state].glyph : 'issues',
    open: () => go(issuePath(repo, issueNumber)),
  }));
}
