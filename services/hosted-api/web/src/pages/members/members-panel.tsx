import { Button } from '@pipeline/web/components/button.tsx';
import { SelectField } from '@pipeline/web/components/select-field.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Panel } from '@pipeline/web/page/panel.tsx';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { change, read } from '../../api/request.ts';
import type { Reply } from '../../api/types.ts';
import { EndDialog, type EndPlan } from '../end-dialog.tsx';
import { ROLES } from './roles.ts';

export type Org = Reply<'browserUser'>['orgs'][number];
type Member = Reply<'browserMembers'>['items'][number];

interface MembersPanelProps {
  org: Org;
  ownEmail: string;
  formToken: string;
}

/** The members, with their roles; owners change and remove the others. */
export function MembersPanel({ org, ownEmail, formToken }: MembersPanelProps) {
  const query = useQuery(read('browserMembers', { query: { org: org.slug } }));
  const [plan, setPlan] = useState<EndPlan | null>(null);
  return (
    <Panel title={`Members of ${org.name}`} query={query} height={160}>
      {() => (
        <>
          <ul className={layout.list}>
            {query.data?.items.map((member) => (
              <li key={member.email} className={layout.item}>
                <span className={layout.line}>
                  <span className={layout.grow}>
                    {member.name} · {member.email}
                  </span>
                  <span className={layout.muted}>
                    {member.email === ownEmail ? `${member.role}, you` : member.role}
                  </span>
                </span>
                <span className={layout.line}>
                  <span className={`${layout.grow} ${layout.muted}`}>
                    {member.repos === null
                      ? 'reads all repositories'
                      : `reads ${member.repos.join(', ') || 'no repository'}`}
                  </span>
                  {member.email !== ownEmail && (
                    <>
                      <SelectField
                        label={`Role of ${member.email}`}
                        hideLabel
                        choices={ROLES}
                        value={member.role}
                        onChange={(role) => setPlan(newRole(org, member, { role, formToken }))}
                      />
                      <Button
                        kind="danger"
                        aria-label={`Remove ${member.email}`}
                        onPress={() => setPlan(removal(org, member, formToken))}
                      >
                        Remove
                      </Button>
                    </>
                  )}
                </span>
              </li>
            ))}
          </ul>
          {plan && <EndDialog plan={plan} onClose={() => setPlan(null)} />}
        </>
      )}
    </Panel>
  );
}

const EFFECTS: Readonly<Record<Member['role'], string>> = {
  owner: 'reads all repositories and changes members',
  admin: 'reads all repositories',
  member: 'reads granted repositories only',
};

const newRole = (
  org: Org,
  { name, email }: Member,
  { role, formToken }: { role: Member['role']; formToken: string },
): EndPlan => ({
  title: `Change the role of ${name} to ${role}?`,
  effect: `${email} then ${EFFECTS[role]} in ${org.name}.`,
  verb: 'Change role',
  failure: 'The role was not changed',
  run: () => change('browserChangeRole', { query: { org: org.slug }, body: { email, role } }, formToken),
});

const removal = (org: Org, { name, email }: Member, formToken: string): EndPlan => ({
  title: `Remove ${name} from ${org.name}?`,
  effect: `${email}, the programs that read on their behalf and their client credentials lose access to ${org.name} at once. Their account stays.`,
  verb: 'Remove',
  failure: 'The member was not removed',
  run: () => change('browserRemoveMember', { query: { org: org.slug }, body: { email } }, formToken),
});
