import { Button } from '@pipeline/web/components/button.tsx';
import { SelectField } from '@pipeline/web/components/select-field.tsx';
import { TextField } from '@pipeline/web/components/text-field.tsx';
import { useState } from 'react';
import { FormDialog } from '../../actions/form-dialog.tsx';
import { request } from '../../api/request.ts';
import type { Reply } from '../../api/types.ts';
import { cronInWords } from './cadence.ts';
import { emptyRow, type SlateRow, slateOf, slateRows } from './slate-rows.ts';
import { type TrackTarget, trackInput } from './track-plans.ts';
import styles from './tracks.module.css';

export type Track = Reply<'listTracks'>['tracks'][number];

const KINDS = [
  { value: 'cooldown' as const, label: 'A time after the last run' },
  { value: 'cron' as const, label: 'A schedule (cron, UTC)' },
];
const SIZES = (['small', 'medium', 'large', 'epic'] as const).map((size) => ({ value: size, label: size }));
const MOST_ROWS = 10;

/** Changes schedule, weight, label and slate of a track. */
export function EditTrackDialog({
  target,
  track,
  onClose,
}: {
  target: TrackTarget;
  track: Track;
  onClose: () => void;
}) {
  const [kind, setKind] = useState(track.cadence.kind);
  const [expr, setExpr] = useState(track.cadence.kind === 'cron' ? track.cadence.expr : '0 3 * * 1');
  const [minutes, setMinutes] = useState(String(track.cooldown_minutes));
  const [weight, setWeight] = useState(String(track.weight));
  const [label, setLabel] = useState(track.label);
  const [rows, setRows] = useState(slateRows(track.proposal));
  const slate = slateOf(rows);
  const isMinutes = /^[1-9]\d{0,8}$/.test(minutes.trim());
  const isWeight = /^\d{1,6}(?:\.\d{1,6})?$/.test(weight.trim());
  const isExpr = kind === 'cooldown' || /^\S+(?:\s+\S+){4}$/.test(expr.trim());
  const run = async (): Promise<string> => {
    await request('updateTrack', {
      ...trackInput(target),
      body: {
        label,
        weight: Number(weight),
        cooldown_minutes: Number(minutes),
        cadence: kind === 'cron' ? { kind, expr: expr.trim() } : { kind },
        proposal: slate,
      },
    });
    return 'changed';
  };
  return (
    <FormDialog
      plan={{ verb: 'Change', object: `track ${target.name}`, effect: 'Effective from the next run.', run }}
      isReady={isMinutes && isWeight && isExpr && slate !== undefined}
      onClose={onClose}
    >
      <SelectField label="Runs" choices={KINDS} value={kind} onChange={setKind} />
      {kind === 'cron' ? (
        <TextField
          label="Schedule"
          hint={isExpr ? cronInWords(expr) : 'Five fields: minute, hour, day, month, weekday.'}
          isInvalid={!isExpr}
          value={expr}
          onChange={setExpr}
        />
      ) : (
        <TextField
          label="Minutes between runs"
          inputMode="numeric"
          isInvalid={!isMinutes}
          value={minutes}
          onChange={setMinutes}
        />
      )}
      <TextField
        label="Weight"
        hint="Share of the free slots against other tracks; 0 = last"
        inputMode="decimal"
        isInvalid={!isWeight}
        value={weight}
        onChange={setWeight}
      />
      <TextField
        label="Label"
        hint="Added to each issue; empty = none"
        maxLength={50}
        value={label}
        onChange={setLabel}
      />
      <SlateEditor rows={rows} isValid={slate !== undefined} onChange={setRows} />
    </FormDialog>
  );
}

interface SlateEditorProps {
  rows: readonly SlateRow[];
  isValid: boolean;
  onChange: (rows: SlateRow[]) => void;
}

function SlateEditor({ rows, isValid, onChange }: SlateEditorProps) {
  const change = (place: number) => (next: SlateRow | null) =>
    onChange(next === null ? rows.toSpliced(place, 1) : rows.with(place, next));
  return (
    <fieldset className={styles.slate}>
      <legend>Slate: the issues of one run; without rows, one small issue</legend>
      {rows.map((row, place) => (
        <SlateFields key={row.key} row={row} place={place} onChange={change(place)} />
      ))}
      {rows.length < MOST_ROWS && <Button onPress={() => onChange([...rows, emptyRow()])}>Add a row</Button>}
      {!isValid && <p>Counts must be whole numbers from 1 to 50.</p>}
    </fieldset>
  );
}

interface SlateFieldsProps {
  row: SlateRow;
  place: number;
  /** null = the row is removed. */
  onChange: (row: SlateRow | null) => void;
}

function SlateFields({ row, place, onChange }: SlateFieldsProps) {
  const of = `of row ${place + 1}`;
  return (
    <div className={styles.slateRow}>
      <TextField
        label="Count"
        aria-label={`Count ${of}`}
        inputMode="numeric"
        value={row.count}
        onChange={(count) => onChange({ ...row, count })}
      />
      <SelectField label="Size" choices={SIZES} value={row.size} onChange={(size) => onChange({ ...row, size })} />
      <TextField
        label="Theme"
        aria-label={`Theme ${of}`}
        maxLength={200}
        value={row.theme}
        onChange={(theme) => onChange({ ...row, theme })}
      />
      <Button kind="quiet" glyph="close" aria-label={`Remove row ${place + 1}`} onPress={() => onChange(null)} />
    </div>
  );
}
