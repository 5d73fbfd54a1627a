import { Button } from '@pipeline/web/components/button.tsx';
import { CopyButton } from '@pipeline/web/components/copy-button.tsx';
import { Dialog } from '@pipeline/web/components/dialog.tsx';
import { SelectField } from '@pipeline/web/components/select-field.tsx';
import { TextField } from '@pipeline/web/components/text-field.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { FailureNote } from '@pipeline/web/page/failure-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { change } from '../../api/request.ts';
import type { Reply } from '../../api/types.ts';
import type { Org } from './members-panel.tsx';
import { ROLES } from './roles.ts';

const DAYS = [
  { value: '1', label: '1 day' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
] as const;

interface InviteDialogProps {
  org: Org;
  formToken: string;
  onClose: () => void;
}

/** Makes a link for one person; the link is shown once. */
export function InviteDialog({ org, formToken, onClose }: InviteDialogProps) {
  const client = useQueryClient();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<(typeof ROLES)[number]['value']>('member');
  const [days, setDays] = useState<(typeof DAYS)[number]['value']>('7');
  const { mutate, isPending, error, data } = useMutation({
    mutationFn: () =>
      change('browserInvite', { query: { org: org.slug }, body: { email, role, days: Number(days) } }, formToken),
    onSuccess: () => client.invalidateQueries({ queryKey: ['browserInvitations'] }),
  });
  return (
    <Dialog title={`Invite a person to ${org.name}`} onClose={onClose}>
      {data ? (
        <InvitationLink invitation={data} onClose={onClose} />
      ) : (
        <form
          className={layout.stack}
          onSubmit={(event) => {
            event.preventDefault();
            if (!isPending) mutate();
          }}
        >
          <TextField
            label="Email address"
            type="email"
            isRequired
            autoFocus
            maxLength={254}
            value={email}
            onChange={setEmail}
          />
          <SelectField label="Role" choices={ROLES} value={role} onChange={setRole} />
          <SelectField label="The link works for" choices={DAYS} value={days} onChange={setDays} />
          {error && <FailureNote what="The invitation was not created" error={error} />}
          <div className={layout.row}>
            <Button kind="primary" type="submit" isDisabled={isPending}>
              Create the link
            </Button>
            <Button onPress={onClose}>Cancel</Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}

function InvitationLink({ invitation, onClose }: { invitation: Reply<'browserInvite'>; onClose: () => void }) {
  const link = new URL(invitation.path, window.location.origin).href;
  return (
    <div className={layout.stack}>
      <p>
        Send this link to {invitation.email}. It works once, until <When at={invitation.expiresAt} as="time" />, and is
        not shown again.{invitation.replaced && ' The earlier link of this address works no more.'}
      </p>
      <p className={layout.line}>
        <code className={layout.grow}>{link}</code>
        <CopyButton text={link} what="the link" />
      </p>
      <div className={layout.row}>
        <Button kind="primary" onPress={onClose}>
          Done
        </Button>
      </div>
    </div>
  );
}
