import { SwitchField } from '@pipeline/web/components/switch-field.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { NamedValues } from '@pipeline/web/page/named-values.tsx';
import { useQuery } from '@tanstack/react-query';
import { startAction } from '../../actions/perform.ts';
import { read } from '../../api/query.ts';
import type { Reply } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';
import { automationPlan, strategyInput } from './strategy-plans.ts';

const POLL_MS = 10_000;

const OUTCOMES: Readonly<Record<NonNullable<Reply<'readStrategyRunState'>['run']>['outcome'], string>> = {
  proposed: 'proposed a snapshot',
  no_change: 'found nothing to change',
  failed: 'failed',
  skipped: 'was skipped',
};

/** The weekly cycle: whether it runs, and how the last one ended. */
export function AutomationPanel({ repo }: { repo: string }) {
  const automation = useQuery(read('readStrategyAutomation', strategyInput(repo), POLL_MS));
  const run = useQuery(read('readStrategyRunState', strategyInput(repo), POLL_MS)).data?.run;
  const setting = automation.data?.automation;
  return (
    <Panel title="Weekly proposals" query={automation} height={90}>
      {() =>
        setting && (
          <div className={layout.stack}>
            <SwitchField
              label={setting.enabled ? 'On' : 'Off'}
              aria-label={`Weekly proposals of ${repo}`}
              isSelected={setting.enabled}
              onChange={(isOn) => startAction(automationPlan(repo, isOn))}
            />
            <NamedValues
              facts={[
                [
                  'Next proposal',
                  setting.nextProposalAt === null ? (
                    setting.enabled ? (
                      'when there is a charter'
                    ) : (
                      'none while it is off'
                    )
                  ) : (
                    <When key="next" at={setting.nextProposalAt} as="time" />
                  ),
                ],
                ['Last proposed week', setting.lastProposedIsoWeek ?? 'none'],
                run ? ['Last cycle', `${run.isoWeek} ${OUTCOMES[run.outcome]}`] : ['Last cycle', 'none yet'],
                run && run.consecutiveFailures > 0 ? ['Failures in a row', run.consecutiveFailures] : null,
              ]}
            />
            {run?.failureReason && <p className={layout.danger}>{run.failureReason}</p>}
          </div>
        )
      }
    </Panel>
  );
}
