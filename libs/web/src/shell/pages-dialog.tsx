import type { ReactNode } from 'react';
import { Dialog } from '../components/dialog.tsx';
import styles from './pages-dialog.module.css';

/** All pages, for a window too narrow for the rail. */
export default function PagesDialog({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  return (
    <Dialog title="Pages" onClose={onClose}>
      <nav className={styles.pages} aria-label="All pages">
        {children}
      </nav>
    </Dialog>
  );
}
