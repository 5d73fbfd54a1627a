import { Button } from '@pipeline/web/components/button.tsx';
import { SelectField } from '@pipeline/web/components/select-field.tsx';
import { TextField } from '@pipeline/web/components/text-field.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FormDialog } from '../../actions/form-dialog.tsx';
import { read } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import type { Reply } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';
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

type Charter = NonNullable<Reply<'readStrategyCharter'>['charter']>;
type Envelope = Charter['envelope'];

const SIZES = (['small', 'medium', 'large', 'epic'] as const).map((size) => ({ value: size, label: size }));

const termsOf = (text: string): string[] =>
  text
    .split(',')
    .map((term) => term.trim())
    .filter((term) => term !== '');

interface CharterDialogProps {
  repo: string;
  charter: Charter | null;
  onClose: () => void;
}

/** Writes the next version of the charter; the limits are shown as sentences while they are typed. */
function CharterDialog({ repo, charter, onClose }: CharterDialogProps) {
  const [goals, setGoals] = useState(charter?.goals ?? '');
  const [size, setSize] = useState<Envelope['max_auto_size']>(charter?.envelope.max_auto_size ?? 'small');
  const [prefer, setPrefer] = useState((charter?.envelope.prefer ?? []).join(', '));
  const [avoid, setAvoid] = useState((charter?.envelope.avoid ?? []).join(', '));
  const [escalate, setEscalate] = useState((charter?.envelope.escalate_when ?? []).join(', '));
  const envelope: Envelope = {
    max_auto_size: size,
    prefer: termsOf(prefer),
    avoid: termsOf(avoid),
    escalate_when: termsOf(escalate),
  };
  const run = async (): Promise<string> => {
    const { version } = await request('putStrategyCharter', { ...strategyInput(repo), body: { goals, envelope } });
    return `version ${version} is in force`;
  };
  const hint = 'Tracks, labels, fields, sizes, themes, KPIs, or categories of findings; separated by commas';
  return (
    <FormDialog
      plan={{
        verb: 'Store',
        object: 'the charter',
        effect: (
          <ul>
            {envelopeInWords(envelope).map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        ),
        run,
      }}
      isReady={goals.trim() !== ''}
      onClose={onClose}
    >
      <TextField label="Goals" rows={4} isRequired autoFocus value={goals} onChange={setGoals} />
      <SelectField label="Largest size without an operator" choices={SIZES} value={size} onChange={setSize} />
      <TextField label="Prefer" hint={hint} value={prefer} onChange={setPrefer} />
      <TextField label="Never increase" value={avoid} onChange={setAvoid} />
      <TextField label="Ask an operator about" value={escalate} onChange={setEscalate} />
    </FormDialog>
  );
}
