import { StateChip } from '@pipeline/web/components/state-chip.tsx';
import { TitleText } from '@pipeline/web/components/title-text.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { inWords } from '@pipeline/web/format/reasons.ts';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { Page } from '@pipeline/web/page/page.tsx';
import { Panel } from '@pipeline/web/page/panel.tsx';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { read } from '../api/request.ts';
import type { Reply } from '../api/types.ts';
import { pollMs } from '../live/poll.ts';
import { IssueTimeline } from './issue-timeline.tsx';
import { RepoPage } from './repo-page.tsx';

type Why = Reply<'browserIssue'>;

/** Why is the issue where it is, and what happened to it? */
export default function IssuePage() {
  const { number = '' } = useParams({ strict: false }) as { number?: string };
  return (
    <RepoPage title={`Issue #${number}`}>{(place) => <OneIssue key={number} number={number} {...place} />}</RepoPage>
  );
}

interface OneIssueProps {
  org: string;
  repo: string;
  number: string;
}

function OneIssue({ org, repo, number }: OneIssueProps) {
  const query = useQuery(read('browserIssue', { params: { number }, query: { org, repo } }, pollMs));
  const why = query.data;
  return (
    <Page
      title={why ? `#${number} ${why.title}` : `Issue #${number}`}
      heading={
        why && (
          <>
            #{number} <TitleText text={why.title} />
          </>
        )
      }
    >
      <div className={layout.stack}>
        <Panel title="Why it is where it is" query={query} height={140}>
          {() => why && <Explanation why={why} />}
        </Panel>
        {why && why.checks.length > 0 && (
          <Panel title="Checks" query={query} height={60}>
            {() => <Checks checks={why.checks} />}
          </Panel>
        )}
        <IssueTimeline org={org} repo={repo} number={number} />
      </div>
    </Page>
  );
}

function Explanation({ why }: { why: Why }) {
  return (
    <div className={layout.stack}>
      <div className={layout.row}>
        <StateChip state={why.state} isPaused={why.isPaused} isBlocked={why.isBlocked} />
        <span className={layout.muted}>
          for <When at={why.stateEnteredAt} as="since" />
        </span>
      </div>
      <p className={layout.text}>{why.explanation}</p>
      {why.waitingOn.length > 1 && (
        <ul className={layout.list}>
          {why.waitingOn.map(({ kind, detail }) => (
            <li key={`${kind} ${detail}`}>
              Waits for <strong>{inWords(kind)}</strong>: {detail}
            </li>
          ))}
        </ul>
      )}
      {why.lastError && (
        <div>
          <p className={layout.danger}>
            Last error, <When at={why.lastError.occurredAt} />
          </p>
          <pre className={layout.code}>{why.lastError.message}</pre>
        </div>
      )}
      {why.recommendations.length > 0 && (
        <ul className={layout.list}>
          {why.recommendations.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
    </div>
  );
}

const isWebAddress = (url: string | null): url is string => url !== null && /^https?:\/\//.test(url);

function Checks({ checks }: { checks: Why['checks'] }) {
  if (checks.length === 0) return <EmptyNote title="No check has reported." />;
  return (
    <ul className={layout.list}>
      {checks.map(({ name, state, conclusion, url }) => (
        <li key={name} className={layout.line}>
          {isWebAddress(url) ? (
            <a href={url} rel="noopener noreferrer">
              {name}
            </a>
          ) : (
            <span>{name}</span>
          )}
          <span className={layout.muted}>{conclusion ?? state}</span>
        </li>
      ))}
    </ul>
  );
}
