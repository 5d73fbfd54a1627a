import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { State } from '../states.ts';
import { checkWorkflow, effectOnIssues } from './check.ts';
import { decide } from './decide.ts';
import { DEFAULT_WORKFLOW, TRIGGERS, type Trigger, type WorkflowSnapshot } from './workflow.ts';

/** The default workflow with other states or edges. */
const changed = (change: (workflow: WorkflowSnapshot) => void): WorkflowSnapshot => {
  const workflow = structuredClone(DEFAULT_WORKFLOW);
  change(workflow);
  return workflow;
};
const without = (from: State, trigger: Trigger, to?: State) =>
  changed((workflow) => {
    workflow.edges = workflow.edges.filter(
      (edge) => edge.from !== from || edge.trigger !== trigger || (to !== undefined && edge.to !== to),
    );
  });
const withoutState = (name: State) =>
  changed((workflow) => {
    workflow.states = workflow.states.filter((state) => state.name !== name);
    workflow.edges = workflow.edges.filter(({ from, to }) => from !== name && to !== name);
  });
const withState = (name: State, over: object) =>
  changed((workflow) => {
    workflow.states = workflow.states.map((state) => (state.name === name ? { ...state, ...over } : state));
  });
const withEdge = (from: State, to: State, trigger: Trigger) =>
  changed((workflow) => void workflow.edges.push({ from, to, trigger }));

describe('check of a workflow', () => {
  test('finds neither errors nor warnings in the default workflow', () => {
    expect(checkWorkflow(DEFAULT_WORKFLOW)).toEqual({ workflow: DEFAULT_WORKFLOW, errors: [], warnings: [] });
  });

  test.each<[string, unknown, RegExp]>([
    ['no workflow', 'text', /^workflow: /],
    [
      'an unknown state',
      { ...DEFAULT_WORKFLOW, states: [{ name: 'polishing' }] },
      /states\[0\].name: must be one of new, analyzing/,
    ],
    [
      'an unknown trigger',
      { ...DEFAULT_WORKFLOW, edges: [{ from: 'new', to: 'done', trigger: 'magic' }] },
      /^edges\[0\].trigger: must be one of analyzed, /,
    ],
    ['an unknown task', withState('planning', { taskType: 'dance' }), /taskType: must be one of analyze, plan/],
    ['a limit of no time', withState('planning', { warnAfterMinutes: 0 }), /states\[2\].warnAfterMinutes: /],
    ['a state twice', changed((one) => void one.states.push({ ...one.states[0] } as never)), /^new is listed twice$/],
    [
      'no place for what failed',
      withoutState('failure-blocked'),
      /^state failure-blocked is missing: the engine needs it$/,
    ],
    [
      'another end',
      withState('human-review-ready', { kind: 'terminal' }),
      /human-review-ready is terminal: done, and only done/,
    ],
    [
      'work for a person',
      withState('needs-clarification', { taskType: 'plan' }),
      /is human, so it cannot have the task plan/,
    ],
    ['a state without work', withState('planning', { taskType: null }), /^planning is active, so it needs a task$/],
    [
      'other work than the engine asks for',
      withState('in-review', { taskType: 'plan' }),
      /task of in-review must be review/,
    ],
    ['a merge elsewhere', withState('planning', { taskType: 'merge' }), /^planning cannot merge/],
    [
      'two ways at once',
      withEdge('planning', 'done', 'planned'),
      /planned leads from planning to ready-for-dev already/,
    ],
    ['an edge twice', withEdge('planning', 'ready-for-dev', 'planned'), /listed twice/],
    ['no way on', without('planning', 'planned'), /an edge from planning on planned is missing/],
    ['no end of attempts', without('in-review', 'exhausted'), /an edge from in-review on exhausted is missing/],
    ['no way in', without('new', 'admitted'), /an edge from new on admitted is missing/],
  ])('%s is an error that names it', (_what, document, message) => {
    expect(checkWorkflow(document).errors).toContainEqual(expect.stringMatching(message));
  });

  test('names an edge to a missing state', () => {
    const workflow = withoutState('waiting-for-subtasks');
    workflow.edges.push({ from: 'planning', to: 'waiting-for-subtasks', trigger: 'split' });
    expect(checkWorkflow(workflow).errors).toEqual([
      'edge planning -> waiting-for-subtasks (split): the workflow has no state waiting-for-subtasks',
    ]);
  });

  test('reports states that are unreachable or have no path to the end', () => {
    const island = changed((workflow) => {
      workflow.edges = workflow.edges.filter(({ to }) => to !== 'human-review-ready');
      workflow.edges.push({ from: 'in-review', to: 'failure-blocked', trigger: 'needs-human' });
      workflow.edges.push({ from: 'merge-pending', to: 'failure-blocked', trigger: 'protected' });
      workflow.edges.push({ from: 'waiting-for-subtasks', to: 'done', trigger: 'subtasks-cancelled' });
    });
    expect(checkWorkflow(island).errors).toEqual(['human-review-ready cannot be reached from new']);
    const trap = changed((workflow) => {
      workflow.edges = workflow.edges.map((edge) => (edge.to === 'done' ? { ...edge, to: 'planning' } : edge));
    });
    expect(checkWorkflow(trap).errors).toContain('no way leads from new to done');
  });

  test('warns about a missing optional outcome', () => {
    const check = checkWorkflow(without('planning', 'split'));
    expect(check.errors).toEqual([]);
    expect(check.warnings).toEqual([
      'planning: an agent that reports split makes a dead letter, for no edge leaves on it',
    ]);
  });

  test('accepts only subsets of the default edges that the engine supports', () => {
    fc.assert(
      fc.property(fc.subarray(DEFAULT_WORKFLOW.edges, { minLength: DEFAULT_WORKFLOW.edges.length - 6 }), (edges) => {
        const workflow = { ...DEFAULT_WORKFLOW, edges };
        const { errors } = checkWorkflow(workflow);
        const stuck = workflow.states.some(
          ({ name, taskType }) =>
            taskType !== null && decide(workflow, facts(name), { trigger: 'exhausted' }).kind === 'refused',
        );
        return errors.length > 0 || !stuck;
      }),
    );
  });

  test('returns a result for any edges and never throws', () => {
    const names = fc.constantFrom(...DEFAULT_WORKFLOW.states.map(({ name }) => name));
    const edge = fc.record({ from: names, to: names, trigger: fc.constantFrom(...TRIGGERS) });
    fc.assert(fc.property(fc.array(edge), (edges) => checkWorkflow({ ...DEFAULT_WORKFLOW, edges }).errors.length >= 0));
  });
});

const facts = (state: State) => ({
  number: 1,
  state,
  blockedFromState: null,
  blockReason: null,
  pr: null,
  openBlockers: 0,
  planStatus: null,
  dismissStale: true,
  defaultBranch: 'main',
});

describe('effects of a new workflow on issues in progress', () => {
  test('no issue is affected when nothing changes', () => {
    expect(effectOnIssues(DEFAULT_WORKFLOW, DEFAULT_WORKFLOW, { planning: 3 })).toEqual([]);
  });

  test('list removed states, removed edges and changed tasks with the number of issues', () => {
    expect(effectOnIssues(withoutState('human-review-ready'), DEFAULT_WORKFLOW, { 'human-review-ready': 2 })).toEqual([
      '2 issues are in human-review-ready, which this workflow does not have: only a cancel or the host moves them',
    ]);
    expect(effectOnIssues(without('planning', 'planned'), DEFAULT_WORKFLOW, { planning: 1 })).toEqual([
      '1 issue is in planning, which loses its edges on planned',
    ]);
    expect(effectOnIssues(withState('analyzing', { taskType: 'plan' }), DEFAULT_WORKFLOW, { analyzing: 4 })).toEqual([
      '4 issues are in analyzing, whose task changes from analyze to plan: what agents still report of analyze becomes a dead letter',
    ]);
    expect(effectOnIssues(withState('analyzing', { taskType: null }), DEFAULT_WORKFLOW, { analyzing: 1 })[0]).toMatch(
      /whose task analyze ends/,
    );
    expect(effectOnIssues(DEFAULT_WORKFLOW, withState('analyzing', { taskType: null }), { analyzing: 1 })[0]).toMatch(
      /which gets the task analyze: retry/,
    );
  });

  test('omit states without issues', () => {
    expect(effectOnIssues(withoutState('human-review-ready'), DEFAULT_WORKFLOW, { planning: 1 })).toEqual([]);
  });
});
