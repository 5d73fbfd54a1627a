import { Dialog } from '@pipeline/web/components/dialog.tsx';
import { TextField } from '@pipeline/web/components/text-field.tsx';
import { Skeleton } from '@pipeline/web/page/skeleton.tsx';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { FormDialog } from '../../actions/form-dialog.tsx';
import { read } from '../../api/query.ts';
import { request } from '../../api/request.ts';
import { type TrackTarget, trackInput } from './track-plans.ts';

/** A version of a prompt that was not sent yet. */
interface Draft {
  seed_title: string;
  seed_body: string;
  instructions: string;
  notes: string;
}

const EMPTY_DRAFT: Draft = { seed_title: '', seed_body: '', instructions: '', notes: '' };

interface NewPromptDialogProps {
  target: TrackTarget;
  /** Version whose texts are the start; 0 = none. */
  basis: number;
  onClose: () => void;
}

/** Writes a version of a prompt. The draft stays in this browser until it is sent. */
export function NewPromptDialog({ target, basis, onClose }: NewPromptDialogProps) {
  const input = trackInput(target);
  const query = useQuery({
    ...read('readTrackPrompt', { ...input, params: { ...input.params, version: String(basis) } }),
    enabled: basis > 0,
  });
  const draft = storedDraft(target);
  if (!draft && basis > 0 && query.isPending) {
    return (
      <Dialog title="Write a version" onClose={onClose}>
        <Skeleton height={300} />
      </Dialog>
    );
  }
  const { seed_title = '', seed_body = '', instructions = '' } = query.data?.prompt ?? {};
  const begin = draft ?? { ...EMPTY_DRAFT, seed_title, seed_body, instructions };
  return <Editor target={target} begin={begin} onClose={onClose} />;
}

function Editor({ target, begin, onClose }: { target: TrackTarget; begin: Draft; onClose: () => void }) {
  const [draft, setDraft] = useState(begin);
  const change = (field: keyof Draft) => (value: string) => {
    const next = { ...draft, [field]: value };
    setDraft(next);
    keepDraft(target, next);
  };
  const run = async (): Promise<string> => {
    const { version } = await request('createTrackPrompt', { ...trackInput(target), body: draft });
    forgetDraft(target);
    return `version ${version} is stored; it is not active yet`;
  };
  return (
    <FormDialog
      plan={{
        verb: 'Store',
        object: 'a version',
        effect: 'A version never changes, and takes effect when it is activated. Your draft stays in this browser.',
        run,
      }}
      isReady
      onClose={onClose}
    >
      <TextField
        label="Title of its issues"
        hint="Empty = the name of the track"
        maxLength={200}
        value={draft.seed_title}
        onChange={change('seed_title')}
      />
      <TextField
        label="Body of its issues"
        rows={5}
        maxLength={60_000}
        value={draft.seed_body}
        onChange={change('seed_body')}
      />
      <TextField
        label="Instructions to agents"
        rows={10}
        value={draft.instructions}
        onChange={change('instructions')}
      />
      <TextField
        label="Notes"
        hint="Shown in the list of versions"
        maxLength={10_000}
        value={draft.notes}
        onChange={change('notes')}
      />
    </FormDialog>
  );
}

const keyOf = ({ repo, name }: TrackTarget): string => `pipeline.draft.${repo}/${name}`;

/** Returns the stored draft; null without one, or where the browser refuses storage. */
function storedDraft(target: TrackTarget): Draft | null {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(keyOf(target)) ?? 'null');
    if (typeof stored !== 'object' || stored === null) return null;
    const texts = Object.entries(stored).filter(([name, value]) => name in EMPTY_DRAFT && typeof value === 'string');
    return { ...EMPTY_DRAFT, ...Object.fromEntries(texts) };
  } catch {
    return null;
  }
}

function keepDraft(target: TrackTarget, draft: Draft): void {
  try {
    localStorage.setItem(keyOf(target), JSON.stringify(draft));
  } catch {
    // Without storage the draft lasts as long as the dialog.
  }
}

function forgetDraft(target: TrackTarget): void {
  try {
    localStorage.removeItem(keyOf(target));
  } catch {
    // There is nothing to remove.
  }
}
