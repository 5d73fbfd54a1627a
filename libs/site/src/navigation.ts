/** The order of the site. Pages that no group names are reached through the links of others. */
export interface NavigationGroup {
  readonly title: string;
  /** Source paths with the short name of each page. */
  readonly pages: readonly (readonly [source: string, name: string])[];
}

/** Groups in the order of a reader: from the installation to the reference. */
export const NAVIGATION: readonly NavigationGroup[] = [
  {
    title: 'Start',
    pages: [
      ['README.md', 'Overview'],
      ['docs/install.md', 'Install'],
      ['docs/install-kubernetes.md', 'Install on Kubernetes'],
      ['docs/quickstart-github.md', 'First repository'],
    ],
  },
  {
    title: 'Operate',
    pages: [
      ['docs/operations.md', 'Operations'],
      ['docs/dashboard.md', 'Dashboard'],
      ['docs/metrics.md', 'Metrics'],
      ['docs/security.md', 'Security'],
      ['docs/scale.md', 'Scale'],
      ['docs/benchmarks.md', 'Benchmarks'],
    ],
  },
  {
    title: 'Connect',
    pages: [
      ['docs/agents.md', 'Agents'],
      ['docs/worker-protocol.md', 'Worker protocol'],
      ['docs/connections.md', 'Connections'],
      ['docs/customers-cli.md', 'Command line for customers'],
      ['docs/contract-tests.md', 'Contract tests'],
    ],
  },
  {
    title: 'Runbooks',
    pages: [
      ['docs/runbooks/alerts.md', 'Alerts'],
      ['docs/runbooks/consistency.md', 'Consistency'],
      ['docs/runbooks/dead-letters.md', 'Dead letters'],
      ['docs/runbooks/regressions.md', 'Regressions'],
      ['docs/runbooks/tracks.md', 'Tracks'],
    ],
  },
  {
    title: 'Reference',
    pages: [
      ['docs/reference/hosted/README.md', 'Hosted API'],
      ['docs/reference/monitor/README.md', 'Monitor API'],
      ['docs/reference/cli.md', 'Command line'],
      ['docs/reference/environment.md', 'Environment'],
      ['docs/reference/workflow.md', 'Workflow'],
      ['docs/reference/block-reasons.md', 'Block reasons'],
      ['docs/errors.md', 'Errors'],
      ['docs/glossary.md', 'Glossary'],
    ],
  },
  {
    title: 'Develop',
    pages: [
      ['docs/architecture.md', 'Architecture'],
      ['docs/paths.md', 'Paths through the code'],
      ['docs/decisions/README.md', 'Decisions'],
      ['CONTRIBUTING.md', 'Contributing'],
      ['docs/releasing.md', 'Releases'],
      ['CHANGELOG.md', 'Changes'],
    ],
  },
];

/** Pages that need not exist; the navigation shows them as soon as their text does. */
const OPTIONAL: ReadonlySet<string> = new Set(['docs/scale.md']);

/** The navigation over the documents that exist, and one line for each required page that has none. */
export function navigationOf(sources: ReadonlySet<string>): { groups: NavigationGroup[]; problems: string[] } {
  const listed = NAVIGATION.flatMap(({ pages }) => pages.map(([source]) => source));
  return {
    groups: NAVIGATION.map(({ title, pages }) => ({ title, pages: pages.filter(([source]) => sources.has(source)) })),
    problems: listed
      .filter((source) => !sources.has(source) && !OPTIONAL.has(source))
      .map((source) => `navigation: ${source} does not exist`),
  };
}
