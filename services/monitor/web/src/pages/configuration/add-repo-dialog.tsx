import { SelectField } from '@pipeline/web/components/select-field.tsx';
import { SwitchField } from '@pipeline/web/components/switch-field.tsx';
import { TextField } from '@pipeline/web/components/text-field.tsx';
import { useState } from 'react';
import { FormDialog } from '../../actions/form-dialog.tsx';
import { request } from '../../api/request.ts';
import { checkText } from './repo-plans.ts';

const HOSTS = [
  { value: '' as const, label: 'Whichever has credentials, GitHub first' },
  { value: 'github' as const, label: 'GitHub' },
  { value: 'sandbox' as const, label: 'Sandbox' },
];

/** Adds a repo without a restart, or changes the settings of a known one. */
export function AddRepoDialog({ onClose }: { onClose: () => void }) {
  const [repo, setRepo] = useState('');
  const [host, setHost] = useState<(typeof HOSTS)[number]['value']>('');
  const [branch, setBranch] = useState('');
  const [poolSize, setPoolSize] = useState('');
  const [setup, setSetup] = useState('');
  const [tenant, setTenant] = useState('');
  const [enabled, setEnabled] = useState(true);
  const [withoutReviewGate, setWithoutGate] = useState(false);
  const slug = repo.trim();
  const isSlug = /^[^/\s]+\/[^/\s]+$/.test(slug);
  const isPool = /^(?:[1-9]\d{0,2}|1000)?$/.test(poolSize.trim());
  const run = async (): Promise<string> => {
    const { added, checks } = await request('addRepo', {
      body: {
        repo: slug,
        enabled,
        withoutReviewGate,
        ...(host && { host }),
        ...(branch.trim() && { branch: branch.trim() }),
        ...(poolSize.trim() && { poolSize: Number(poolSize) }),
        ...(setup.trim() && { setupCommand: setup.trim() }),
        ...(tenant.trim() && { tenant: tenant.trim() }),
      },
    });
    return `${added ? 'added' : 'settings changed'}. ${checkText(checks)}`.trim();
  };
  return (
    <FormDialog
      plan={{
        verb: 'Add',
        object: isSlug ? slug : 'a repository',
        effect: 'Issues that have the enqueue label are imported at once. A known repository keeps what is left empty.',
        run,
      }}
      isReady={isSlug && isPool}
      onClose={onClose}
    >
      <TextField label="Repository" hint="owner/name" autoFocus isRequired value={repo} onChange={setRepo} />
      <SelectField label="Host" choices={HOSTS} value={host} onChange={setHost} />
      <TextField
        label="Branch"
        hint="Target of pull requests; empty = the host's default"
        value={branch}
        onChange={setBranch}
      />
      <TextField
        label="Concurrent tasks"
        hint={isPool ? '1 to 1000; empty = no limit' : 'Must be a whole number from 1 to 1000.'}
        inputMode="numeric"
        isInvalid={!isPool}
        value={poolSize}
        onChange={setPoolSize}
      />
      <TextField label="Setup command" hint="Run by workers after a checkout" value={setup} onChange={setSetup} />
      <TextField label="Tenant" hint="External id; empty = default" value={tenant} onChange={setTenant} />
      <SwitchField label="Import its issues" isSelected={enabled} onChange={setEnabled} />
      <SwitchField
        label="Also where the branch does not require svc/review"
        isSelected={withoutReviewGate}
        onChange={setWithoutGate}
      />
    </FormDialog>
  );
}
