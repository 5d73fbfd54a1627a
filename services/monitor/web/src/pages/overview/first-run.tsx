import { CopyButton } from '@pipeline/web/components/copy-button.tsx';
import { Glyph } from '@pipeline/web/glyphs/glyph.tsx';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/query.ts';
import { Panel } from '../../page/panel.tsx';
import { firstRunSteps, isComplete } from './first-run-steps.ts';
import styles from './overview.module.css';
import { overviewReads } from './overview-reads.ts';

const POLL_MS = 3_000;

/** Steps that a new installation still lacks, with the one command for each; gone once an agent has worked. */
export function FirstRun() {
  const dashboard = useQuery(overviewReads(undefined).dashboard);
  const config = useQuery(read('configSummary', {}));
  const isKnown = config.data !== undefined && dashboard.data !== undefined;
  const mayLack = isKnown && !isComplete(firstRunSteps(config.data, dashboard.data, undefined));
  const readiness = useQuery({ ...read('getReadiness', {}, POLL_MS), enabled: mayLack });
  const fresh = useQuery({ ...read('configSummary', {}, POLL_MS), enabled: mayLack });
  if (!mayLack || !fresh.data || !dashboard.data) return null;
  const steps = firstRunSteps(fresh.data, dashboard.data, readiness.data);
  return (
    <Panel title="First run: what is missing" query={fresh} height={220}>
      {() => (
        <ol className={styles.steps}>
          {steps.map(({ title, done, command, detail }) => (
            <li key={title} className={styles.step}>
              <Glyph name={done ? 'tick' : 'outline'} colour={done ? '--good' : '--muted'} />
              <div>
                <p>
                  {title} <span className={done ? styles.good : styles.muted}>{done ? 'done' : 'missing'}</span>
                </p>
                {!done && <p className={styles.muted}>{detail}</p>}
                {!done && (
                  <div className={styles.command}>
                    <pre>{command}</pre>
                    <CopyButton text={command} what="command" />
                  </div>
                )}
              </div>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  );
}
