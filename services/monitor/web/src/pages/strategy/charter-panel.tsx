import { Button } from '@pipeline/web/components/button.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { read } from '../../api/query.ts';
import { Panel } from '../../page/panel.tsx';
import { CharterDialog } from './charter-dialog.tsx';
import { strategyInput } from './strategy-plans.ts';
import { envelopeInWords } from './words.ts';

/** Goals and limits that proposals must keep to. */
export function CharterPanel({ repo }: { repo: string }) {
  const [isEditing, setEditing] = useState(false);
  const query = useQuery(read('readStrategyCharter', strategyInput(repo), 30_000));
  const charter = query.data?.charter;
  return (
    <>
      <Panel
        title="Charter"
        query={query}
        height={120}
        actions={
          query.data && (
            <Button onPress={() => setEditing(true)}>{charter ? 'Edit the charter' : 'Write a charter'}</Button>
          )
        }
      >
        {() =>
          charter ? (
            <div className={layout.stack}>
              <p className={layout.text}>{charter.goals}</p>
              <ul>
                {envelopeInWords(charter.envelope).map((sentence) => (
                  <li key={sentence}>{sentence}</li>
                ))}
              </ul>
              <p className={layout.muted}>
                Version {charter.version}, by {charter.author}, <When at={charter.created_at} />
              </p>
            </div>
          ) : (
            <EmptyNote title="There is no charter: nothing is proposed." />
          )
        }
      </Panel>
      {isEditing && query.data && (
        <CharterDialog repo={repo} charter={query.data.charter} onClose={() => setEditing(false)} />
      )}
    </>
  );
}
