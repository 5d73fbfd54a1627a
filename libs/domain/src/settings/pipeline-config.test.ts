import { describe, expect, test } from '@jest/globals';
import { AppError } from '../errors.ts';
import { parsePipelineConfig, RELOADABLE_KEYS, settingsOf } from './pipeline-config.ts';
import { DEFAULT_SETTINGS } from './settings.ts';

function complaints(config: unknown): string[] {
  try {
    parsePipelineConfig(config);
  } catch (error) {
    if (error instanceof AppError && error.code === 'CONFIG_VALIDATION_FAILED') return error.message.split('\n');
    throw error;
  }
  return [];
}

describe('the pipeline configuration', () => {
  test('may be empty, and is then the built-in default', () => {
    for (const empty of [null, undefined, {}]) {
      expect(settingsOf(parsePipelineConfig(empty))).toEqual(DEFAULT_SETTINGS);
    }
  });

  test('fills in absent keys of a repo', () => {
    expect(parsePipelineConfig({ repos: [{ slug: 'Acme/Shop' }] }).repos).toEqual([
      {
        slug: 'Acme/Shop',
        branch: 'main',
        poolSize: null,
        setupCommand: null,
        tenant: 'default',
        checks: 'required',
        mergeMethod: 'squash',
        mergeTrain: 'off',
        maxRounds: 3,
        compare: null,
      },
    ]);
  });

  test.each<[string, unknown, string]>([
    ['at the top', { selfhealing: {} }, 'selfhealing: is no key here; keys are repos, agents, selfHealing,'],
    ['in a section', { selfHealing: { autoRestrat: true } }, 'selfHealing.autoRestrat: is no key here; keys are auto'],
    [
      'in a repo',
      { repos: [{ slug: 'a/b', poolsize: 2 }] },
      'repos[0].poolsize: is no key here; keys are slug, branch',
    ],
    [
      'in an agent',
      { agents: { dev: { url: 'http://x', auth: {} } } },
      'agents.dev.auth: is no key here; keys are url',
    ],
    [
      'of a state',
      { sla: { warnAfterMinutes: { plannning: 5 } } },
      'sla.warnAfterMinutes.plannning: is no state; states are new, analyzing,',
    ],
    [
      'in a channel',
      { alertChannels: [{ type: 'log', url: 'x' }] },
      'alertChannels[0].url: is no key here; keys are type',
    ],
  ])('a mistyped key %s is an error that names it and the right ones', (_where, config, message) => {
    expect(complaints(config)).toEqual([expect.stringContaining(message)]);
  });

  test('reports all errors together, one per line', () => {
    const lines = complaints({
      repos: [{ slug: 'shop' }],
      pollIntervals: { monitor: 0 },
      costLimits: { dailyUsd: -1, monthlyUsd: 100 },
      agents: { monitor: { auth: { username: 'ops', passwordEnv: 'not a name' } }, dev: { url: 'ftp://dev' } },
    });
    expect(lines).toHaveLength(6);
    expect(lines).toContain('repos[0].slug: must be owner/name');
    expect(lines).toContain('agents.monitor.auth.passwordEnv: must be the name of an environment variable');
    expect(lines).toContain('agents.dev.url: must be an http or https address');
  });

  test('a person may be named once among the logins, and by a name that Basic can carry', () => {
    const auth = { username: 'olga', passwordEnv: 'OLGA', logins: [{ username: 'per', passwordEnv: 'PER' }] };
    const complaintsOf = (logins: unknown[]) => complaints({ agents: { monitor: { auth: { ...auth, logins } } } });
    expect(complaintsOf(auth.logins)).toEqual([]);
    expect(complaintsOf([...auth.logins, { username: 'olga', passwordEnv: 'O2' }])).toEqual([
      'agents.monitor.auth.logins[1].username: olga is listed twice',
    ]);
    expect(complaintsOf([{ username: 'a:b', passwordEnv: 'A' }])).toEqual([
      expect.stringContaining('must not contain a colon'),
    ]);
    expect(complaintsOf([{ username: 'a', password: 'secret' }])).toEqual(
      expect.arrayContaining([expect.stringContaining('.password: is no key here; keys are username, passwordEnv')]),
    );
  });

  test('a merge train is off or serial', () => {
    const train = (mergeTrain: unknown) => complaints({ repos: [{ slug: 'acme/shop', mergeTrain }] });
    expect(train('serial')).toEqual([]);
    for (const wrong of ['parallel', true, null]) {
      expect(train(wrong)).toEqual([expect.stringMatching(/^repos\[0\]\.mergeTrain: .*"off".*"serial"/)]);
    }
  });

  test('a comparison names task types and agents with positive whole weights', () => {
    const compare = (value: unknown) => complaints({ repos: [{ slug: 'acme/shop', compare: value }] });
    expect(compare({ develop: { claude: 50, codex: 50 } })).toEqual([]);
    expect(compare(null)).toEqual([]);
    expect(compare({ develop: { claude: 0, codex: 1.5 } })).toEqual([
      'repos[0].compare.develop.claude: must be a whole number from 1 to 1000',
      'repos[0].compare.develop.codex: must be a whole number from 1 to 1000',
    ]);
    expect(compare({ develop: { claude: 1 } })).toEqual([
      'repos[0].compare.develop: must name 2 to 20 agents, each with its weight',
    ]);
    expect(compare({ merge: { claude: 1, codex: 1 } })).toEqual([
      expect.stringContaining('is no task type whose agents can be compared; types are analyze, plan, develop, review'),
    ]);
    expect(compare({ develop: { ' ': 1, codex: 1 } })).toEqual([expect.stringContaining('is no agent name')]);
  });

  test('a repo may be listed once per tenant, however its name is spelled', () => {
    const repo = { slug: 'acme/shop' };
    expect(complaints({ repos: [repo, { slug: 'Acme/Shop' }] })).toEqual(['repos[1].slug: Acme/Shop is listed twice']);
    expect(complaints({ repos: [repo, { ...repo, tenant: 'other' }] })).toEqual([]);
  });

  test.each([[[]], ['text'], [5]])('%j in place of the mapping is refused', (config) => {
    expect(complaints(config)).toEqual([expect.stringMatching(/^config: .*expected object/)]);
  });

  test('requires an endpoint for semantic search', () => {
    expect(() => parsePipelineConfig({ retrieval: { embedding: true } })).toThrow(
      'retrieval.embeddingEndpoint: must be set when embedding is true',
    );
  });

  test('every reloadable key reaches the settings', () => {
    const changed = {
      selfHealing: { autoRestart: true },
      pollIntervals: { monitor: 7 },
      costLimits: { perIssueUsd: 5 },
      alertChannels: [{ type: 'slack', urlEnv: 'SLACK_URL', digest: false }],
      alerts: { queueAgeMinutes: 5 },
      retrieval: { tokenBudget: 500 },
      sla: { warnAfterMinutes: { planning: 5 } },
      tracks: { maxOpenIssues: 3 },
      retention: { eventsDays: 10, messagesDays: 2, runsDays: 11, projectionsDays: 3 },
      review: { dismissStale: false, workerLogins: ['shop-worker[bot]'] },
      checks: { timeoutMinutes: 30, pollSeconds: 5 },
      installations: 'organisation',
    };
    const settings = settingsOf(parsePipelineConfig(changed));
    expect(settings).toMatchObject(changed);
    expect(Object.keys(changed)).toEqual([...RELOADABLE_KEYS]);
  });
});
