import { Glyph } from '@pipeline/web/glyphs/glyph.tsx';
import { useStableCallback } from '@pipeline/web/shared/use-stable-callback.ts';
import { afterFrame } from '@pipeline/web/timing/timers.ts';
import { type KeyboardEvent, memo, useEffect, useRef, useState } from 'react';
import styles from './palette.module.css';
import { type Entry, useFound } from './palette-entries.ts';

/**
 * The command palette: opens pages, and issues by number or title, and runs actions of the page. A combobox of the browser's own
 * elements: with a list of the component library each character took a slow machine over 150 ms (decision 0036).
 */
export default function Palette({ onClose }: { onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself.
    <dialog
      ref={dialog}
      className={styles.dialog}
      aria-label="Command palette"
      onClose={onClose}
      // The padding of the dialog covers the window: only a click beside the panel has the dialog as its target.
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <Panel onClose={onClose} />
    </dialog>
  );
}

const optionId = (index: number): string => `palette-option-${index}`;

function Panel({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState('');
  const [active, setActive] = useState(0);
  const { entries, note } = useFound(text);
  const current = Math.min(active, entries.length - 1);
  const open = useStableCallback((index: number): void => {
    onClose();
    // The palette is gone before the page is rendered.
    afterFrame(() => entries[index]?.open());
  });
  const move = (to: number): void => {
    const index = (to + entries.length) % entries.length;
    setActive(index);
    document.getElementById(optionId(index))?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // A key that ends the composition of a character is not meant for the list.
    if (event.nativeEvent.isComposing || entries.length === 0) return;
    if (event.key === 'ArrowDown') move(current + 1);
    else if (event.key === 'ArrowUp') move(current - 1);
    else if (event.key === 'Enter') open(current);
    else return;
    event.preventDefault();
  };
  return (
    <div className={styles.panel}>
      <div className={styles.search}>
        <Glyph name="search" />
        <input
          role="combobox"
          aria-label="Search pages, actions and issues"
          aria-autocomplete="list"
          aria-expanded={entries.length > 0}
          aria-controls="palette-list"
          aria-activedescendant={entries.length > 0 ? optionId(current) : undefined}
          autoComplete="off"
          spellCheck={false}
          className={styles.input}
          placeholder="Page, action, issue number or title"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setActive(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      {entries.length > 0 ? (
        <div id="palette-list" role="listbox" aria-label="Found" className={styles.list}>
          {entries.map(({ id, title, detail, glyph }, index) => (
            <Option
              key={id}
              {...{ title, detail, glyph, index }}
              isActive={index === current}
              onActive={setActive}
              onOpen={open}
            />
          ))}
        </div>
      ) : (
        <p role="status" className={styles.empty}>
          {note}
        </p>
      )}
    </div>
  );
}

interface OptionProps extends Pick<Entry, 'title' | 'detail' | 'glyph'> {
  index: number;
  isActive: boolean;
  onActive: (index: number) => void;
  onOpen: (index: number) => void;
}

const Option = memo(function Option({ title, detail, glyph, index, isActive, onActive, onOpen }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the focus stays in the field, which has the keys of the list.
    // biome-ignore lint/a11y/useFocusableInteractive: as above.
    <div
      id={optionId(index)}
      role="option"
      aria-selected={isActive}
      className={styles.item}
      onPointerMove={() => onActive(index)}
      onClick={() => onOpen(index)}
    >
      <Glyph name={glyph} />
      <span className={styles.title}>{title}</span>
      <span className={styles.detail}>{detail}</span>
    </div>
  );
});
