import { oneOf, text } from '@pipeline/web/address/fields.ts';
import { useAddress } from '@pipeline/web/address/use-address.ts';
import { isFailure } from '@pipeline/web/api/failure.ts';
import { Button } from '@pipeline/web/components/button.tsx';
import { useShortcuts } from '@pipeline/web/navigation/shortcuts.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import { FailureNote } from '@pipeline/web/page/failure-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { Skeleton } from '@pipeline/web/page/skeleton.tsx';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { startAction } from '../../actions/perform.ts';
import { repairPlan } from '../../actions/repair-actions.ts';
import { read } from '../../api/query.ts';
import type { IssueInput } from '../../api/types.ts';
import { issuePath } from '../../navigation/issue-path.ts';
import { useGo } from '../../navigation/use-go.ts';
import { Artefacts } from './artefacts.tsx';
import { Events } from './events.tsx';
import { Findings } from './findings.tsx';
import styles from './issue.module.css';
import { IssueHead } from './issue-head.tsx';
import { Messages } from './messages.tsx';
import { PlanApproval } from './plan-approval.tsx';
import { Plans } from './plans.tsx';
import { Retrospective } from './retrospective.tsx';
import { TimelineTab } from './timeline-tab.tsx';

const TABS = {
  timeline: 'Timeline',
  events: 'Events',
  findings: 'Findings',
  plans: 'Plans',
  artefacts: 'Artefacts',
  messages: 'Messages',
  retrospective: 'Retrospective',
} as const;
type Tab = keyof typeof TABS;
const TAB_NAMES = Object.keys(TABS) as Tab[];
const FIELDS = { tab: oneOf(TAB_NAMES, 'timeline'), tenant: text() };

/** Why is the issue where it is, and what would move it? */
export default function IssuePage() {
  const { owner = '', repo = '', number = '' } = useParams({ strict: false }) as Record<string, string>;
  const { values, set, rejected } = useAddress(FIELDS);
  const go = useGo();
  const slug = `${owner}/${repo}`;
  const input: IssueInput = {
    params: { owner, repo, issue: number },
    query: values.tenant === '' ? {} : { tenant: values.tenant },
  };
  const why = useQuery(read('explainIssueTo', input));
  const step = (by: number): void => go(issuePath(slug, Math.max(1, Number(number) + by)));
  useShortcuts([
    { keys: ']', description: 'Next issue number', group: 'Issue', run: () => step(1) },
    { keys: '[', description: 'Previous issue number', group: 'Issue', run: () => step(-1) },
  ]);
  const isUnknown = isFailure(why.error, 'ISSUE_NOT_FOUND') || isFailure(why.error, 'NOT_FOUND');
  return (
    <Page title={`${slug}#${number}`} rejected={rejected}>
      {isUnknown ? (
        <NotInPipeline slug={slug} issueNumber={Number(number)} />
      ) : (
        <div className={layout.stack}>
          {why.error && (
            <FailureNote what="The issue could not be read" error={why.error} onRetry={() => void why.refetch()} />
          )}
          {why.data ? <IssueHead why={why.data} input={input} /> : !why.error && <Skeleton height={220} />}
          {why.data?.state === 'human-review-ready' && (
            <PlanApproval repo={why.data.repo} issueNumber={why.data.issueNumber} input={input} />
          )}
          <div className={styles.tabs} role="toolbar" aria-label="Parts of the issue">
            {TAB_NAMES.map((tab) => (
              <Button
                key={tab}
                kind={tab === values.tab ? 'primary' : 'plain'}
                aria-pressed={tab === values.tab}
                onPress={() => set({ tab })}
              >
                {TABS[tab]}
              </Button>
            ))}
          </div>
          <TabContent tab={values.tab} input={input} />
        </div>
      )}
    </Page>
  );
}

function TabContent({ tab, input }: { tab: Tab; input: IssueInput }) {
  if (tab === 'events') return <Events input={input} />;
  if (tab === 'findings') return <Findings input={input} />;
  if (tab === 'plans') return <Plans input={input} />;
  if (tab === 'artefacts') return <Artefacts input={input} />;
  if (tab === 'messages') return <Messages input={input} />;
  if (tab === 'retrospective') return <Retrospective input={input} />;
  return <TimelineTab input={input} />;
}

/** An issue without a record; where the host has it, the repair that enqueues it is offered. */
function NotInPipeline({ slug, issueNumber }: { slug: string; issueNumber: number }) {
  const { data } = useQuery(read('listConsistencyFindings', { query: { limit: 500 } }));
  const orphan = data?.items.find(
    (finding) =>
      finding.kind === 'orphan_missing_from_pg' &&
      finding.issueNumber === issueNumber &&
      `${finding.repoOwner}/${finding.repoName}` === slug,
  );
  const plan = orphan && repairPlan(orphan);
  return (
    <EmptyNote title={`${slug}#${issueNumber} is not in the pipeline.`}>
      <p>
        An issue enters when it gets the label <code>svc:enqueue</code> in an enabled repository.
      </p>
      {plan && <Button onPress={() => startAction(plan)}>Enqueue the issue …</Button>}
    </EmptyNote>
  );
}
