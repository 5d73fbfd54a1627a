import type { ReactNode } from 'react';
import styles from './named-values.module.css';

/** Named values beside each other; null values are left out. */
export function NamedValues({ facts }: { facts: readonly (readonly [name: string, value: ReactNode] | null)[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map((fact) =>
        fact === null ? null : (
          <div key={fact[0]} className={styles.fact}>
            <dt>{fact[0]}</dt>
            <dd>{fact[1]}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
