import { comes, type Stage } from './stage.ts';

const TRACK = 'gaps';
const TITLE = 'Close a gap in the tests';
const GOAL = 'Fewer regressions';

/** A track is created, and its first prompt version written and activated: then the host has an issue of it. */
export async function makeTrack(stage: Stage): Promise<void> {
  const { checks, operator, host } = stage;
  await operator.open(`/steering/tracks?repo=${host.slug}`, 'Tracks');
  await operator.press('Add a track');
  await operator.fill('Name', TRACK);
  await operator.confirm();
  await operator.page.getByRole('link', { name: TRACK }).click();
  await operator.page.getByRole('heading', { level: 1, name: `Track ${TRACK}` }).waitFor();
  checks.equal('a track without a prompt creates no issue', (await host.titles('issues')).includes(TITLE), false);
  await operator.press('Write a version');
  await operator.fill('Title of its issues', TITLE);
  await operator.fill('Instructions to agents', 'Prefer small tests.');
  await operator.confirm();
  await operator.page.getByRole('button', { name: 'Activate version 1' }).click();
  await operator.confirm();
  await comes(stage, 'an active track opens its issue on the host', async () =>
    (await host.titles('issues')).includes(TITLE),
  );
}

/** A charter limits what may be proposed for a repository. */
export async function writeCharter(stage: Stage): Promise<void> {
  const { operator, host } = stage;
  await operator.open(`/steering/strategy?repo=${host.slug}`, 'Strategy');
  await operator.press('Write a charter');
  await operator.fill('Goals', GOAL);
  await operator.confirm();
  await comes(stage, 'a charter is in force', async () => {
    const charter = await operator.api<object>(`/api/strategy/${host.slug}/charter`);
    return JSON.stringify(charter).includes(GOAL);
  });
}
