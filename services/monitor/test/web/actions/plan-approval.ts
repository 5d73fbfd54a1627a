/** The plan of an issue that waits for an approval, on the issue page. */
import { expect, test } from '@jest/globals';
import { inBrowser } from '@pipeline/testing/in-browser';
import { findings } from '../browser.ts';
import { address, api, database, open } from './dashboard.ts';

interface Issues {
  items: { repo: string; issueNumber: number }[];
}
interface Plans {
  items: { version: number; author: string; body: string; status: string }[];
}

const PLAN = '# Plan\n\n### Steps\n\n1. Read **all** of `totals.ts`\n\n<script>document.title = 1</script>';

/** Makes an issue wait for the approval of its first plan. */
async function pend({ repo, issueNumber }: Issues['items'][number]): Promise<void> {
  const { db } = database;
  const [, name = ''] = repo.split('/');
  const issue = await db
    .updateTable('issues')
    .from('repos')
    .set({ plan: PLAN, plan_version: 1, plan_status: 'pending' })
    .whereRef('repos.id', '=', 'issues.repo_id')
    .where('repos.name', '=', name)
    .where('issues.issue_number', '=', issueNumber)
    .returning(['issues.tenant_id', 'issues.id'])
    .executeTakeFirstOrThrow();
  const plan = { version: 1, author_type: 'agent', author: 'planner', body: PLAN, status: 'pending' as const };
  await db
    .insertInto('issue_plans')
    .values({ tenant_id: issue.tenant_id, issue_id: issue.id, ...plan })
    .execute();
}

inBrowser('the issue page', () => {
  test('shows the pending plan and starts development with the edited text when a person approves it', async () => {
    const [issue] = (await api<Issues>('/api/issues?state=human-review-ready&limit=1')).items;
    if (!issue) throw new Error('the history has no issue that waits for a person');
    await pend(issue);
    const { page, complaints } = await open(1440, 'light');
    await page.goto(`${address()}/#/issues/${issue.repo}/${issue.issueNumber}`);
    const panel = page.getByRole('region', { name: 'Plan to approve, version 1' });
    await panel.getByRole('heading', { name: 'Steps' }).waitFor();
    expect(await panel.locator('script').count()).toBe(0);
    expect(await findings(page)).toEqual([]);
    await panel.getByRole('button', { name: 'Reject …' }).click();
    const rejection = page.getByRole('dialog', { name: /^Reject version 1/ });
    expect(await rejection.getByRole('button', { name: /^Reject/ }).isDisabled()).toBe(true);
    await page.keyboard.press('Escape');
    await panel.getByRole('button', { name: 'Edit and approve …' }).click();
    await page.getByLabel('Plan', { exact: true }).fill(`${PLAN}\n\n2. Write a test`);
    await page.getByRole('button', { name: 'Approve the edited plan' }).click();
    await panel.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Plans', exact: true }).click();
    await page.getByText(/^Version 2/).click();
    await page.getByText('Write a test').waitFor();
    const { items } = await api<Plans>(`/api/issues/${issue.repo}/${issue.issueNumber}/plans`);
    expect(items).toMatchObject([
      { version: 2, author: 'olga', status: 'approved' },
      { version: 1, author: 'planner', body: PLAN, status: 'withdrawn' },
    ]);
    expect(await findings(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
