/** Scenario that the labels of an issue select for the simulation; README.md has the table. */
export interface Scenario {
  flaky: boolean;
  broken: boolean;
  unclear: boolean;
  sloppy: boolean;
  crowded: boolean;
  slow: boolean;
  human: boolean;
}

export const SCENARIO_LABELS = {
  flaky: 'demo:flaky',
  broken: 'demo:broken',
  unclear: 'demo:unclear',
  sloppy: 'demo:sloppy',
  crowded: 'demo:crowded',
  slow: 'demo:slow',
  human: 'demo:human',
} as const satisfies Record<keyof Scenario, string>;

/** The switches that an issue's labels set. */
export function scenarioOf(labels: readonly string[]): Scenario {
  const on = (name: keyof Scenario) => labels.includes(SCENARIO_LABELS[name]);
  return {
    flaky: on('flaky'),
    broken: on('broken'),
    unclear: on('unclear'),
    sloppy: on('sloppy'),
    crowded: on('crowded'),
    slow: on('slow'),
    human: on('human'),
  };
}
