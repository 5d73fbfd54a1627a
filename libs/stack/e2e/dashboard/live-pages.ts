import { comes, type Stage } from './stage.ts';

/** Maximum time from the response that a change is committed until an open page shows it. */
const SHOWN_WITHIN_MS = 1_000;
const FIRST_RUN = 'First run: what is missing';

/** The steps of the first run on the overview, each done or missing. */
export async function firstRunShows(
  stage: Stage,
  what: string,
  wanted: Record<string, 'done' | 'missing'>,
): Promise<void> {
  const { operator } = stage;
  await operator.open('/', 'Overview');
  const steps = operator.page.getByRole('region', { name: FIRST_RUN }).getByRole('listitem');
  const isShown = async () => {
    const texts = await steps.locator('p:first-child').allTextContents();
    return Object.entries(wanted).every(([title, status]) => texts.some((text) => text === `${title} ${status}`));
  };
  await comes(stage, what, isShown);
}

/** An open page shows what another operator has changed. */
export async function showsChanges(stage: Stage, issue: number): Promise<void> {
  const { checks, operator, host } = stage;
  await operator.open(`/issues/${host.slug}/${issue}`, `#${issue}`);
  await operator.page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  for (const [action, then] of [
    ['pause', 'Resume'],
    ['resume', 'Pause'],
  ] as const) {
    await operator.act(`/api/issues/${host.slug}/${issue}/${action}`);
    const committed = performance.now();
    await operator.page.getByRole('button', { name: then, exact: true }).waitFor();
    checks.within(
      `an open page shows the ${action} of another operator`,
      performance.now() - committed,
      SHOWN_WITHIN_MS,
    );
  }
}
