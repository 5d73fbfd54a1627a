import { SelectField } from '@pipeline/web/components/select-field.tsx';
import { TextField } from '@pipeline/web/components/text-field.tsx';
import { useState } from 'react';
import { FormDialog } from '../../actions/form-dialog.tsx';
import { request } from '../../api/request.ts';
import type { Reply } from '../../api/types.ts';
import { strategyInput } from './strategy-plans.ts';
import { envelopeInWords } from './words.ts';

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
export function CharterDialog({ repo, charter, onClose }: CharterDialogProps) {
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
