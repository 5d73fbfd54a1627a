/** Repairs in the dashboard: dead letters, contradictions, and host writes that failed. */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { beginSending, settle } from '@pipeline/engine';
import { inBrowser } from '@pipeline/testing/in-browser';
import type { Page } from 'playwright-core';
import { addDeadLetter, admit, type Bench, makeBench } from '../../support/bench.ts';
import { FINDING_AT, writeContradictions } from '../../support/contradictions.ts';
import { findings } from '../browser.ts';
import { address, api, database, open, pipeline } from './dashboard.ts';
import { CONSISTENCY } from './orphan.ts';

const DEAD_LETTERS = 'Acme/Transitions';
const WRITES = 'Acme/Writes';

interface Audit {
  items: { action: string; reason: string | null }[];
}
interface DeadLetters {
  items: { id: string }[];
  page: { total: number };
}
interface Findings {
  items: { id: string }[];
}
interface Writes {
  projections: { id: number; repoName: string; issueNumber: number; action: { type: string } }[];
}

inBrowser('the dashboard', () => {
  async function openAt(path: string): Promise<Page> {
    const { page } = await open(1440, 'light');
    await page.goto(`${address()}/#${path}`);
    return page;
  }
  const benchOf = async (slug: string): Promise<Bench> => ({
    ...(await makeBench(database.store, slug)),
    engine: pipeline().engine,
  });
  const newestAudit = async (action: string) => (await api<Audit>(`/api/audit?action=${action}&actor=olga`)).items[0];
  const actions = (page: Page) => page.getByRole('region', { name: 'Actions', exact: true });
  const entry = (page: Page, issue: string) => page.getByRole('listitem').filter({ has: page.getByTitle(issue) });
  const deadLetters = () => api<DeadLetters>('/api/dead-letters?limit=500');

  describe('on the page of dead letters', () => {
    let bench: Bench;
    let ids: string[];

    beforeAll(async () => {
      bench = await benchOf(DEAD_LETTERS);
      ids = [await addDeadLetter(bench, 1), await addDeadLetter(bench, 2), await addDeadLetter(bench, 3)];
      await pipeline().deadLetters.refresh();
    });
    const openIds = async () => (await deadLetters()).items.map(({ id }) => id).filter((id) => ids.includes(id));

    test('retries a dead letter when the operator confirms it', async () => {
      const page = await openAt(`/trouble/dead-letters?repo=${DEAD_LETTERS}`);
      await entry(page, `${DEAD_LETTERS}#1`).getByRole('button', { name: 'Retry …' }).click();
      await page.getByRole('button', { name: `Retry the dead letter of ${DEAD_LETTERS}#1` }).click();
      await actions(page).getByText('the issue is now planning').waitFor();
      await entry(page, `${DEAD_LETTERS}#1`).waitFor({ state: 'detached' });
      expect(await api(`/api/issues/${DEAD_LETTERS}/1/why`)).toMatchObject({ state: 'planning' });
      expect(await openIds()).not.toContain(ids[0]);
    });

    test('resolves a dead letter with the reason of the operator in the audit', async () => {
      const page = await openAt(`/trouble/dead-letters?repo=${DEAD_LETTERS}`);
      await entry(page, `${DEAD_LETTERS}#2`).getByRole('button', { name: 'Resolve …' }).click();
      await page.getByLabel('Reason (optional)').fill('done by hand');
      expect(await findings(page)).toEqual([]);
      await page.getByRole('button', { name: `Resolve the dead letter of ${DEAD_LETTERS}#2` }).click();
      await entry(page, `${DEAD_LETTERS}#2`).waitFor({ state: 'detached' });
      expect(await api(`/api/issues/${DEAD_LETTERS}/2/why`)).toMatchObject({ state: 'analyzing' });
      expect(await newestAudit('dead-letter-resolve')).toMatchObject({
        target: `${DEAD_LETTERS}#2`,
        reason: 'done by hand',
      });
      expect(await openIds()).not.toContain(ids[1]);
    });

    test('resolves all dead letters when their number is typed', async () => {
      const page = await openAt('/trouble/dead-letters');
      await page.getByRole('button', { name: 'Resolve all …' }).click();
      const { total } = (await deadLetters()).page;
      const send = page.getByRole('button', { name: /^Resolve all \d+ dead letter/ });
      await page.getByLabel(`Type ${total} to confirm`).fill(String(total + 1));
      expect(await send.isDisabled()).toBe(true);
      await page.getByLabel(`Type ${total} to confirm`).fill(String(total));
      await send.click();
      await actions(page).getByText(`${total} resolved`).waitFor();
      await page.getByText('No transition failed for good.').waitFor();
      await pipeline().deadLetters.refresh();
      expect((await deadLetters()).page.total).toBe(0);
    });
  });

  describe('on the page of contradictions', () => {
    beforeAll(async () => {
      await writeContradictions(database.db, await benchOf(CONSISTENCY));
      await pipeline().consistency.refresh();
    });

    test.each([
      ['stale_blocked', 'Clear the flag', 'clear-flag'],
      ['stale_subtask_edge', 'Resolve the subtasks', 'resolve-subtask-edges'],
      ['orphan_missing_from_pg', 'Enqueue', 'enqueue-orphan'],
      ['si_linkage_gap', 'Complete', 'link-si'],
      ['orphan_dependency_edge', 'Delete the orphan edges', 'delete-orphan-edges'],
    ] as const)('repairs %s when the operator confirms "%s"', async (kind, verb, action) => {
      const issue = `${CONSISTENCY}#${FINDING_AT[kind]}`;
      const ids = async () => (await api<Findings>('/api/consistency?limit=500')).items.map(({ id }) => id);
      expect(await ids()).toContain(`${kind}:${issue}`);
      const page = await openAt(`/trouble/consistency?repo=${CONSISTENCY}&kind=${kind}`);
      await entry(page, issue)
        .getByRole('button', { name: `${verb} …` })
        .click();
      await page.getByLabel('Reason (optional)').fill(`because of ${kind}`);
      if (kind === 'orphan_dependency_edge') await page.getByLabel('Type 1 to confirm').fill('1');
      await page.getByRole('dialog').or(page.getByRole('alertdialog')).getByRole('button', { name: issue }).click();
      await actions(page).getByText('gone').waitFor();
      await page.getByText('No contradiction was found in the last scan.').waitFor();
      await pipeline().consistency.refresh();
      expect(await ids()).not.toContain(`${kind}:${issue}`);
      expect(await newestAudit(action)).toMatchObject({ reason: `because of ${kind}` });
    });
  });

  describe('on the page of host writes', () => {
    beforeAll(async () => {
      const bench = await benchOf(WRITES);
      for (const number of [1, 2]) {
        await admit(bench, number);
        const { id = 0 } = (await writesOf(number)).find(({ action }) => action.type === 'swapLabels') ?? {};
        const sending = await beginSending(bench.engine, bench.tenantId, id);
        if (!sending) throw new Error(`write ${id} is not pending`);
        await settle(bench.engine, sending, { status: 'refused', httpStatus: 422, message: 'no', kind: 'other' });
      }
    });
    const writesOf = async (issue: number, query = '') =>
      (await api<Writes>(`/api/projections${query}`)).projections.filter(
        ({ repoName, issueNumber }) => repoName === 'Writes' && issueNumber === issue,
      );
    const row = (page: Page, issue: number) =>
      page
        .getByRole('row')
        .filter({ has: page.getByTitle(`${WRITES}#${issue}`) })
        .first();

    test('retries a write that failed when the operator confirms it', async () => {
      expect(await writesOf(1, '?status=failed')).toHaveLength(1);
      const page = await openAt(`/trouble/writes?status=failed&repo=${WRITES}`);
      await row(page, 1).getByRole('button', { name: 'Retry' }).click();
      await page
        .getByRole('dialog')
        .getByRole('button', { name: `Retry the write to ${WRITES}#1` })
        .click();
      await actions(page).getByText('the write waits for its turn').waitFor();
      await row(page, 1).waitFor({ state: 'detached' });
      expect(await writesOf(1, '?status=failed')).toEqual([]);
      expect((await writesOf(1, '?status=pending')).map(({ action }) => action.type)).toContain('swapLabels');
    });

    test('discards a write that failed when its number is typed', async () => {
      const [failed] = await writesOf(2, '?status=failed');
      const page = await openAt(`/trouble/writes?status=failed&repo=${WRITES}`);
      await row(page, 2).getByRole('button', { name: 'Discard' }).click();
      await page.getByLabel('Type 1 to confirm').fill('1');
      expect(await findings(page)).toEqual([]);
      await page
        .getByRole('alertdialog')
        .getByRole('button', { name: `Discard the write to ${WRITES}#2` })
        .click();
      await actions(page).getByText('discarded').waitFor();
      await page.getByText('There are no such writes.').waitFor();
      expect((await writesOf(2, '?status=discarded')).map(({ id }) => id)).toEqual([failed?.id]);
    });
  });
});
