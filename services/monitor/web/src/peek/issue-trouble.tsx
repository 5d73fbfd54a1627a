import { When } from '@pipeline/web/components/when.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import type { Reply } from '../api/types.ts';
import styles from './issue-trouble.module.css';

interface IssueTroubleProps {
  why: Pick<Reply<'explainIssueTo'>, 'lastError' | 'recommendations'>;
  /** True = the error is shown before a click opens it. */
  isOpen?: boolean;
}

/** The last error of an issue, and what would repair it; nothing when there is neither. */
export function IssueTrouble({ why: { lastError, recommendations }, isOpen = false }: IssueTroubleProps) {
  return (
    <>
      {lastError && (
        <details open={isOpen}>
          <summary>
            Last error, {lastError.agentName ?? 'no agent'}, <When at={lastError.occurredAt} />
          </summary>
          <pre className={layout.code}>{lastError.message}</pre>
        </details>
      )}
      {recommendations.length > 0 && (
        <ul className={styles.advice}>
          {recommendations.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
    </>
  );
}
