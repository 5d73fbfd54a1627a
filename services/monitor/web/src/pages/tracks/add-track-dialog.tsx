import { SelectField } from '@pipeline/web/components/select-field.tsx';
import { SwitchField } from '@pipeline/web/components/switch-field.tsx';
import { TextField } from '@pipeline/web/components/text-field.tsx';
import { useState } from 'react';
import { FormDialog } from '../../actions/form-dialog.tsx';
import { request } from '../../api/request.ts';
import { useRepos } from '../../api/use-repos.ts';

/** Creates a track; schedule, slate and weight are set on its page. */
export function AddTrackDialog({ repo: chosen, onClose }: { repo: string | undefined; onClose: () => void }) {
  const repos = useRepos();
  const [repo, setRepo] = useState(chosen ?? repos[0] ?? '');
  const [name, setName] = useState('');
  const [label, setLabel] = useState('');
  const [minutes, setMinutes] = useState('');
  const [enabled, setEnabled] = useState(true);
  const isName = /^(?!\s*$)[^/]{1,100}$/.test(name);
  const isMinutes = /^(?:[1-9]\d{0,8})?$/.test(minutes.trim());
  const run = async (): Promise<string> => {
    await request('putTrack', {
      body: {
        repo,
        name,
        enabled,
        ...(label && { label }),
        ...(minutes.trim() && { cooldown_minutes: Number(minutes) }),
      },
    });
    return 'created; it creates issues once a prompt version is active';
  };
  return (
    <FormDialog
      plan={{
        verb: 'Add',
        object: isName ? `track ${name}` : 'a track',
        effect: 'A track of this name that exists already takes these values.',
        run,
      }}
      isReady={isName && isMinutes && repo !== ''}
      onClose={onClose}
    >
      <SelectField
        label="Repository"
        choices={repos.map((slug) => ({ value: slug, label: slug }))}
        value={repo}
        onChange={setRepo}
      />
      <TextField
        label="Name"
        hint="1 to 100 characters, no slash"
        autoFocus
        isRequired
        maxLength={100}
        value={name}
        onChange={setName}
      />
      <TextField
        label="Label"
        hint="Added to each issue of the track; empty = none"
        maxLength={50}
        value={label}
        onChange={setLabel}
      />
      <TextField
        label="Minutes between runs"
        hint={isMinutes ? "Empty = the configuration's default" : 'Must be a whole number from 1.'}
        inputMode="numeric"
        isInvalid={!isMinutes}
        value={minutes}
        onChange={setMinutes}
      />
      <SwitchField label="Enabled" isSelected={enabled} onChange={setEnabled} />
    </FormDialog>
  );
}
