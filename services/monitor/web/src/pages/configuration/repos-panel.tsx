import { Button } from '@pipeline/web/components/button.tsx';
import { SwitchField } from '@pipeline/web/components/switch-field.tsx';
import { When } from '@pipeline/web/components/when.tsx';
import { EmptyNote } from '@pipeline/web/page/empty-note.tsx';
import layout from '@pipeline/web/page/layout.module.css';
import { NamedValues } from '@pipeline/web/page/named-values.tsx';
import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { startAction } from '../../actions/perform.ts';
import type { Reply } from '../../api/types.ts';
import { Panel } from '../../page/panel.tsx';
import { AddRepoDialog } from './add-repo-dialog.tsx';
import { disablePlan, enablePlan, type Repo, removePlan } from './repo-plans.ts';

/** All repos of the pipeline, disabled ones among them. */
export function ReposPanel({ query }: { query: UseQueryResult<Reply<'listRepos'>> }) {
  const [isAdding, setAdding] = useState(false);
  const repos = query.data?.items ?? [];
  return (
    <>
      <Panel
        title="Repositories"
        query={query}
        height={140}
        actions={<Button onPress={() => setAdding(true)}>Add a repository</Button>}
      >
        {() =>
          repos.length === 0 ? (
            <EmptyNote title="No repository has been added." />
          ) : (
            <ul className={layout.list}>
              {repos.map((repo) => (
                <li key={`${repo.org}/${repo.repo}`} className={layout.item}>
                  <RepoLine repo={repo} />
                </li>
              ))}
            </ul>
          )
        }
      </Panel>
      {isAdding && <AddRepoDialog onClose={() => setAdding(false)} />}
    </>
  );
}

function RepoLine({ repo }: { repo: Repo }) {
  const { repo: slug, org, enabled, host, branch, poolSize, setupCommand, pushRestricted, createdAt } = repo;
  return (
    <>
      <div className={layout.line}>
        <strong className={layout.grow}>{slug}</strong>
        <SwitchField
          label={enabled ? 'Enabled' : 'Disabled'}
          aria-label={`Import issues of ${slug}`}
          isSelected={enabled}
          onChange={(isOn) => startAction(isOn ? enablePlan(repo) : disablePlan(repo))}
        />
        <Button kind="quiet" aria-label={`Remove ${slug}`} onPress={() => startAction(removePlan(repo))}>
          Remove
        </Button>
      </div>
      <NamedValues
        facts={[
          ['Host, branch', `${host}, ${branch}`],
          ['Tenant', org],
          ['Concurrent tasks', poolSize === null ? 'no limit' : `at most ${poolSize}`],
          setupCommand === null ? null : ['Setup', <code key="setup">{setupCommand}</code>],
          [
            'Pushes to the branch',
            pushRestricted === null ? (
              'not known yet'
            ) : (
              <span key="push" className={pushRestricted ? layout.good : layout.warning}>
                {pushRestricted ? 'restricted' : 'not restricted: agents could push past reviews'}
              </span>
            ),
          ],
          ['Added', <When key="added" at={createdAt} />],
        ]}
      />
    </>
  );
}
