import styles from './login.module.css';
import { Login } from './login.tsx';

/** The first page of a browser without a session. The address stays, so the wanted page follows. */
export default function LoginPage() {
  return (
    <main className={styles.page}>
      <div className={styles.card}>
        <h1 className={styles.heading}>Pipeline monitor</h1>
        <Login onDone={() => undefined} />
      </div>
    </main>
  );
}
