import { expect, test } from '@jest/globals';
import type { TrackChange } from '@pipeline/domain';
import { activatePrompt, addPrompt, putTrack, runDueTracks, updateTrackAt } from '@pipeline/engine';
import { testDatabase } from '@pipeline/testing';
import { makeBench } from '../harness.ts';

const database = testDatabase();
const OLGA = { type: 'operator', id: 'olga', agent: null } as const;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const START = Date.parse('2026-01-01T00:00:30.000Z');
const END = START + 365 * DAY;

/** Numbers from 0 to 1, the same at each run. */
function draws(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A schedule by the calendar of UTC, without any cron library. */
interface Schedule {
  expr: string;
  minute: number;
  hour: number;
  day(at: Date): boolean;
}
const nextDay = (at: Date) => new Date(at.getTime() + DAY);
const SCHEDULES: Record<string, Schedule> = {
  weekdays: { expr: '0 3 * * 1-5', minute: 0, hour: 3, day: (at) => ![0, 6].includes(at.getUTCDay()) },
  sundays: { expr: '30 2 * * 0', minute: 30, hour: 2, day: (at) => at.getUTCDay() === 0 },
  firsts: { expr: '0 0 1 * *', minute: 0, hour: 0, day: (at) => at.getUTCDate() === 1 },
  lasts: { expr: '59 23 L * *', minute: 59, hour: 23, day: (at) => nextDay(at).getUTCDate() === 1 },
};

/** The first scheduled time after a moment, day by day. */
function scheduledAfter({ minute, hour, day }: Schedule, moment: number): number {
  const from = new Date(moment);
  for (let n = 0; n < 40; n += 1) {
    const at = Date.UTC(from.getUTCFullYear(), from.getUTCMonth(), from.getUTCDate() + n, hour, minute);
    if (at > moment && day(new Date(at))) return at;
  }
  throw new Error('none within forty days');
}

/** The expected data of a track, computed without the scheduler. */
interface Model {
  name: string;
  minutes: number;
  schedule: Schedule | null;
  enabled: boolean;
  since: number;
  runs: number[];
}

const dueAt = ({ schedule, minutes, since, runs }: Model): number => {
  const last = runs.at(-1) ?? null;
  if (schedule) return scheduledAfter(schedule, Math.max(since, last ?? 0));
  return last === null ? since : last + minutes * MINUTE;
};

test('over a year with restarts, outages and changes each due run is made once, and missed ones once', async () => {
  const draw = draws(20_260_101);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(draw() * all.length)] as T;
  let now = START;
  const goTo = (time: number) => {
    now = time;
    database.clock.now = new Date(time);
  };
  goTo(START);
  const tracks = { cooldownMinutes: 60, weight: 1, maxOpenIssues: 1_000 };
  let { engine } = await makeBench(database.store, { settings: { tracks } });

  /** Another process, which has only the store. */
  let opened = database.store;
  const restart = async () => {
    if (opened !== database.store) await opened.close();
    opened = database.open({ applicationName: 'restarted', clock: () => new Date(now) });
    engine = { ...engine, store: opened };
  };

  const models: Model[] = [];
  const at = (name: string) => ({ owner: 'acme', repo: 'shop', name });
  const change = (name: string, what: TrackChange) =>
    updateTrackAt(engine, at(name), what, { action: 'track-update', actor: OLGA });
  async function add(name: string, minutes: number, schedule: Schedule | null): Promise<void> {
    await putTrack(engine, at(name), { name, cooldown_minutes: minutes }, OLGA);
    await addPrompt(engine, at(name), { seed_title: name, seed_body: '', instructions: '', notes: '' }, OLGA);
    await activatePrompt(engine, at(name), 1, OLGA);
    if (schedule) await change(name, { cadence: { kind: 'cron', expr: schedule.expr } });
    models.push({ name, minutes, schedule, enabled: true, since: now, runs: [] });
  }

  /** One check; two concurrent ones must change nothing more. */
  async function tick(): Promise<void> {
    const due = models.filter((model) => model.enabled && dueAt(model) <= now);
    for (const model of due) model.runs.push(now);
    expect(await runDueTracks(engine)).toEqual({ runs: due.length, issues: due.length });
    if (draw() < 0.1) expect(await runDueTracks(engine)).toEqual({ runs: 0, issues: 0 });
  }

  async function meddle(): Promise<void> {
    const model = pick(models);
    const action = draw();
    if (action < 0.4) {
      if (!model.enabled) model.since = now;
      model.enabled = !model.enabled;
      await change(model.name, { enabled: model.enabled });
    } else if (action < 0.7) {
      model.minutes = 720 + Math.floor(draw() * 10_000);
      await change(model.name, { cooldown_minutes: model.minutes });
    } else {
      const schedule = pick([null, ...Object.values(SCHEDULES)]);
      if (schedule?.expr !== model.schedule?.expr) model.since = now;
      model.schedule = schedule;
      await change(model.name, { cadence: schedule ? { kind: 'cron', expr: schedule.expr } : { kind: 'cooldown' } });
    }
  }

  await add('daily', 24 * 60, null);
  await add('odd', 7 * 24 * 60 + 13, null);
  for (const [name, schedule] of Object.entries(SCHEDULES)) await add(name, 60, schedule);

  let outages = 0;
  while (now < END) {
    const nextDue = Math.min(...models.filter(({ enabled }) => enabled).map(dueAt));
    const luck = draw();
    if (luck < 0.02) {
      outages += 1;
      goTo(now + Math.floor(draw() * 20 * DAY));
      await restart();
    } else if (luck < 0.1) {
      goTo(now + Math.floor(draw() * 2 * DAY));
    } else if (nextDue > now + 1) {
      // Not a moment too early.
      goTo(nextDue - 1);
      if (luck < 0.4) await tick();
      goTo(nextDue);
    }
    await tick();
    if (draw() < 0.05) await meddle();
  }

  const rows = await database.db
    .selectFrom('si_issues')
    .select(['track_name', 'created_at'])
    .orderBy('created_at')
    .execute();
  const made = (name: string) =>
    rows.filter(({ track_name }) => track_name === name).map(({ created_at }) => Date.parse(created_at));
  for (const { name, runs } of models) expect([name, made(name)]).toEqual([name, runs]);
  expect(outages).toBeGreaterThan(5);
  expect(rows.length).toBeGreaterThan(300);
  if (opened !== database.store) await opened.close();
});
