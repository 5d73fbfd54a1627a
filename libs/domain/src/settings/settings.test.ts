import { describe, expect, test } from '@jest/globals';
import { DEFAULT_SETTINGS, Settings } from './settings.ts';

describe('the settings', () => {
  test('the built-in defaults apply where no row overrides them', () => {
    expect(DEFAULT_SETTINGS).toMatchObject({
      maxAttempts: 3,
      leaseMs: 60_000,
      claimToStartMs: 120_000,
      stallMs: 900_000,
      selfHealing: {
        autoUnblockTransient: true,
        maxAutoUnblocksPerIssue: 3,
        autoRestart: false,
        restartStrategy: 'pid',
        restartCooldownSec: 300,
        maxRestartAttempts: 3,
      },
      pollIntervals: { sprintMaster: 30, monitor: 30, metricsRefreshMin: 5 },
      costLimits: { dailyUsd: null, monthlyUsd: null, perIssueUsd: null },
      hostBudget: { contentWritesPerMinute: 80, contentWritesPerHour: 500, concurrentRequests: 100 },
      maxProjectionAttempts: 8,
    });
  });

  test('written by a newer release or by an older one are read by this one', () => {
    const row = { selfHealing: { autoRestart: true, fromTomorrow: 1 }, alsoFromTomorrow: {} };
    expect(Settings.parse(row)).toEqual({
      ...DEFAULT_SETTINGS,
      selfHealing: { ...DEFAULT_SETTINGS.selfHealing, autoRestart: true },
    });
  });

  test('survive the way through the store unchanged', () => {
    expect(Settings.parse(JSON.parse(JSON.stringify(DEFAULT_SETTINGS)))).toEqual(DEFAULT_SETTINGS);
  });
});
