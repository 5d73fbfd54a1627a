import { ApiFailure } from '@pipeline/web/api/failure.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import { TextField } from '@pipeline/web/components/text-field.tsx';
import { formatDuration } from '@pipeline/web/format/duration.ts';
import { useNow } from '@pipeline/web/timing/use-now.ts';
import { type FormEvent, useState } from 'react';
import { Form } from 'react-aria-components/Form';
import { logIn } from '../api/session.ts';
import styles from './login.module.css';

const COOKIE_REFUSED =
  'The login succeeded, but the browser did not keep the session. This address needs https, or use localhost.';

type Problem = { text: string; until: number };

/** The login form. */
export function Login({ onDone }: { onDone: () => void }) {
  const now = useNow();
  const [username, setUsername] = useState('');
  const [password, setPassword] = useState('');
  const [isSending, setSending] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const waitMs = problem ? problem.until - now : 0;
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (isSending || waitMs > 0) return;
    setSending(true);
    setProblem(null);
    try {
      if ((await logIn(username, password)) === 'signed-in') onDone();
      else setProblem({ text: COOKIE_REFUSED, until: 0 });
    } catch (error) {
      setProblem(problemOf(error, now));
    } finally {
      setSending(false);
    }
  };
  return (
    <Form className={styles.form} onSubmit={(event) => void submit(event)}>
      <TextField
        label="Username"
        autoComplete="username"
        autoFocus
        isRequired
        value={username}
        onChange={setUsername}
      />
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        isRequired
        value={password}
        onChange={setPassword}
      />
      {problem && (
        <p role="alert" className={styles.problem}>
          {problem.text}
          {waitMs > 0 && ` Try again in ${formatDuration(waitMs)}.`}
        </p>
      )}
      <Button kind="primary" type="submit" isDisabled={isSending || waitMs > 0}>
        Log in
      </Button>
    </Form>
  );
}

function problemOf(error: unknown, now: number): Problem {
  if (!(error instanceof ApiFailure)) return { text: 'The login failed unexpectedly.', until: 0 };
  if (error.code === 'RATE_LIMITED') {
    return { text: 'Too many failed attempts.', until: now + (error.retryAfterMs ?? 60_000) };
  }
  return { text: error.code === 'AUTH_FAILED' ? 'The username or the password is wrong.' : error.message, until: 0 };
}
