import { wholeNumber } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import { SelectField } from '@pipeline/web/components/select-field.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { startAction } from '../../actions/perform.ts';
import { read } from '../../api/query.ts';
import { Panel } from '../../page/panel.tsx';
import { NewPromptDialog } from './new-prompt-dialog.tsx';
import { activatePlan, type TrackTarget, trackInput } from './track-plans.ts';
import styles from './tracks.module.css';

const PromptDiff = lazy(() => import('./prompt-diff.tsx'));

/** Versions to compare; 0 = none chosen. */
const FIELDS = { from: wholeNumber(0, 0, 999_999_999), to: wholeNumber(0, 0, 999_999_999) };

/** The versions of the prompt: read, compare, write, activate. */
export function PromptsPanel({ target, activeVersion }: { target: TrackTarget; activeVersion: number }) {
  const { values, set } = useAddress(FIELDS);
  const [isWriting, setWriting] = useState(false);
  const query = useQuery(read('listTrackPrompts', trackInput(target)));
  const versions = query.data?.versions ?? [];
  const to = values.to || activeVersion || (versions[0]?.version ?? 0);
  const choices = versions.map(({ version }) => ({
    value: String(version),
    label: version === activeVersion ? `version ${version}, active` : `version ${version}`,
  }));
  return (
    <>
      <Panel
        title="Prompt versions"
        query={query}
        height={160}
        actions={<Button onPress={() => setWriting(true)}>Write a version</Button>}
      >
        {() =>
          versions.length === 0 ? (
            <EmptyNote title="There is no prompt version: the track creates no issues." />
          ) : (
            <div className={layout.stack}>
              <ul className={layout.list}>
                {versions.map(({ version, created_at, notes }) => (
                  <li key={version} className={styles.version}>
                    <Button kind="quiet" aria-pressed={version === to} onPress={() => set({ to: version })}>
                      version {version}
                    </Button>
                    <When at={created_at} />
                    <span className={layout.grow}>{notes}</span>
                    {version === activeVersion ? (
                      <span className={layout.good}>active</span>
                    ) : (
                      <Button
                        aria-label={`Activate version ${version}`}
                        onPress={() => startAction(activatePlan(target, version))}
                      >
                        Activate
                      </Button>
                    )}
                  </li>
                ))}
              </ul>
              <div className={layout.row}>
                <SelectField
                  label="Show"
                  choices={choices}
                  value={String(to)}
                  onChange={(version) => set({ to: Number(version) })}
                />
                <SelectField
                  label="Compared with"
                  choices={[{ value: '0', label: 'nothing' }, ...choices]}
                  value={String(values.from)}
                  onChange={(version) => set({ from: Number(version) })}
                />
              </div>
              <Suspense>
                <PromptDiff target={target} from={values.from} to={to} />
              </Suspense>
            </div>
          )
        }
      </Panel>
      {isWriting && <NewPromptDialog target={target} basis={to} onClose={() => setWriting(false)} />}
    </>
  );
}
