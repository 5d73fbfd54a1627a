import { type ReactNode, useEffect } from 'react';
import styles from './page.module.css';

interface PageProps {
  title: string;
  /** The title with markup; default: the title of the document. */
  heading?: ReactNode;
  /** Parameters of the address that are no values of this page. */
  rejected?: readonly string[];
  actions?: ReactNode;
  children: ReactNode;
}

/** Title of the site, as the page file has it; every page adds its own. */
const siteTitle = typeof document === 'undefined' ? '' : document.title;

/** Title and content of a page. */
export function Page({ title, heading = title, rejected = [], actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} – ${siteTitle}`;
  }, [title]);
  return (
    <>
      <header className={styles.head}>
        <h1 className={styles.title}>{heading}</h1>
        {actions}
      </header>
      {rejected.length > 0 && (
        <p className={styles.rejected} role="status">
          Ignored in the address: {rejected.map((text) => `“${text}”`).join(', ')}
        </p>
      )}
      {children}
    </>
  );
}
