import { Button } from '@pipeline/web/components/button.tsx';
import { useShortcuts } from '@pipeline/web/navigation/shortcuts.ts';
import { type ReactNode, useEffect, useRef } from 'react';
import styles from './side-panel.module.css';

interface SidePanelProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
}

/** Details of a row beside its list; above it in a narrow window. Escape closes it. */
export function SidePanel({ title, onClose, children }: SidePanelProps) {
  const panel = useRef<HTMLElement>(null);
  useShortcuts([{ keys: 'Escape', description: 'Close the details', group: 'Lists', run: onClose }]);
  useEffect(() => {
    if (title !== '') panel.current?.scrollIntoView({ block: 'nearest' });
  }, [title]);
  return (
    <aside ref={panel} className={styles.panel} aria-label={`Details of ${title}`}>
      <header className={styles.head}>
        <h2 className={styles.title}>{title}</h2>
        <Button kind="quiet" glyph="close" aria-label="Close the details" onPress={onClose} />
      </header>
      {children}
    </aside>
  );
}
