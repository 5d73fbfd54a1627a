import { FailureNote } from '@pipeline/web/page/failure-note.tsx';
import { useEffect, useState } from 'react';
import { checkSession } from '../api/session.ts';
import styles from './login.module.css';

/** Shown until it is known whether there is a session. */
export function Unreachable() {
  const [error, setError] = useState<Error | null>(null);
  const check = (): void => {
    setError(null);
    checkSession().catch((failure: Error) => setError(failure));
  };
  useEffect(check, []);
  return (
    <main className={styles.page}>
      <h1 hidden>Pipeline monitor</h1>
      {error && <FailureNote what="The dashboard could not start" error={error} onRetry={check} />}
    </main>
  );
}
