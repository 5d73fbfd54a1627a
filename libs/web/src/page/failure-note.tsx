import { ApiFailure } from '../api/failure.ts';
import { Button } from '../components/button.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Glyph } from '../glyphs/glyph.tsx';
import styles from './failure-note.module.css';

interface FailureNoteProps {
  /** Action that failed, as a sentence such as "The issues could not be read". */
  what: string;
  error: Error;
  onRetry?: () => void;
}

/** A failed request: what failed, the message, the code, the request id, and a way to try again. */
export function FailureNote({ what, error, onRetry }: FailureNoteProps) {
  const failure = error instanceof ApiFailure ? error : null;
  return (
    <div className={styles.note} role="alert">
      <p className={styles.what}>
        <Glyph name="warning" colour="--danger" /> {what}
      </p>
      <p>{error.message}</p>
      <p className={styles.facts}>
        {failure && <code>{failure.code}</code>}
        {failure?.requestId && (
          <span>
            request <code>{failure.requestId}</code> <CopyButton text={failure.requestId} what="request id" />
          </span>
        )}
        {onRetry && <Button onPress={onRetry}>Try again</Button>}
      </p>
    </div>
  );
}
