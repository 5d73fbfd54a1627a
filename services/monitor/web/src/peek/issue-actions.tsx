import { Button } from '@pipeline/web/components/button.tsx';
import { Dialog } from '@pipeline/web/components/dialog.tsx';
import { useShortcuts } from '@pipeline/web/navigation/shortcuts.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ActionPlan } from '../actions/action.ts';
import { cancelPlan, pausePlan, resumePlan, retryPlan, transitionPlan, unblockPlan } from '../actions/issue-actions.ts';
import { startAction } from '../actions/perform.ts';
import { read } from '../api/query.ts';
import type { Reply } from '../api/types.ts';
import styles from './issue-peek.module.css';

interface Offer {
  keys: string;
  name: string;
  plan: ActionPlan;
  /** Why it cannot be done now. */
  refusal?: string;
}

type Why = Pick<Reply<'explainIssueTo'>, 'repo' | 'issueNumber' | 'state' | 'isPaused' | 'isBlocked'>;

/** The actions on an issue; those that would have no effect say why. */
export function IssueActions({ why, tenant }: { why: Why; tenant?: string }) {
  const [owner = '', repo = ''] = why.repo.split('/');
  const transitions = useQuery(
    read('validTransitions', {
      params: { owner, repo, issue: String(why.issueNumber) },
      ...(tenant !== undefined && { query: { tenant } }),
    }),
  );
  const offers = offersOf(why, tenant, transitions.data?.validTargets ?? []);
  const [isMenuOpen, setMenuOpen] = useState(false);
  useShortcuts([
    { keys: '.', description: 'All actions', group: 'Issue', run: () => setMenuOpen(true) },
    ...offers.flatMap(({ keys, name, plan, refusal }) =>
      refusal === undefined ? [{ keys, description: name, group: 'Issue' as const, run: () => startAction(plan) }] : [],
    ),
  ]);
  return (
    <div className={styles.actions} role="toolbar" aria-label="Actions on the issue">
      {offers.map(({ name, plan, refusal }) => (
        <span key={name} title={refusal}>
          <Button isDisabled={refusal !== undefined} onPress={() => startAction(plan)}>
            {name}
          </Button>
        </span>
      ))}
      {isMenuOpen && (
        <ActionMenu name={`${why.repo}#${why.issueNumber}`} offers={offers} onClose={() => setMenuOpen(false)} />
      )}
    </div>
  );
}

interface ActionMenuProps {
  name: string;
  offers: readonly Offer[];
  onClose: () => void;
}

/** Every action with its key; those that would have no effect say why. */
function ActionMenu({ name, offers, onClose }: ActionMenuProps) {
  return (
    <Dialog title={`Actions on ${name}`} onClose={onClose}>
      <ul className={styles.menu}>
        {offers.map(({ keys, name: verb, plan, refusal }) => (
          <li key={verb} className={styles.choice}>
            <Button
              isDisabled={refusal !== undefined}
              onPress={() => {
                onClose();
                startAction(plan);
              }}
            >
              {verb}
            </Button>
            <kbd>{keys}</kbd>
            <span className={styles.muted}>{refusal ?? plan.effect}</span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

function offersOf(why: Why, tenant: string | undefined, targets: readonly Why['state'][]): Offer[] {
  const issue = { repo: why.repo, issueNumber: why.issueNumber, ...(tenant !== undefined && { tenant }) };
  const isDone = why.state === 'done';
  const ended = isDone ? 'The issue is done.' : undefined;
  return [
    { keys: 'r', name: 'Retry', plan: retryPlan(issue), refusal: ended },
    {
      keys: 'u',
      name: 'Unblock',
      plan: unblockPlan(issue),
      refusal: ended ?? (why.isBlocked ? undefined : 'The issue is not blocked.'),
    },
    why.isPaused
      ? { keys: 'p', name: 'Resume', plan: resumePlan(issue), refusal: ended }
      : { keys: 'p', name: 'Pause', plan: pausePlan(issue), refusal: ended },
    {
      keys: 't',
      name: 'Move …',
      plan: transitionPlan(issue, targets),
      refusal: targets.length === 0 ? 'The workflow allows no other state from here.' : undefined,
    },
    { keys: 'c', name: 'Cancel …', plan: cancelPlan(issue), refusal: ended },
  ];
}
