/** The order of a reader, from the installation to the reference. Other pages are reached through links. */
export const SIDEBAR = [
  group('Start', [
    ['/', 'Overview'],
    ['/install', 'Install'],
    ['/install-kubernetes', 'Install on Kubernetes'],
    ['/quickstart-github', 'First repository'],
  ]),
  group('Operate', [
    ['/operations', 'Operations'],
    ['/dashboard', 'Dashboard'],
    ['/metrics', 'Metrics'],
    ['/security', 'Security'],
    ['/scale', 'Scale'],
    ['/benchmarks', 'Benchmarks'],
  ]),
  group('Connect', [
    ['/agents', 'Agents'],
    ['/worker-protocol', 'Worker protocol'],
    ['/connections', 'Connections'],
    ['/customers-cli', 'Command line for customers'],
    ['/contract-tests', 'Contract tests'],
  ]),
  group('Runbooks', [
    ['/runbooks/alerts', 'Alerts'],
    ['/runbooks/consistency', 'Consistency'],
    ['/runbooks/dead-letters', 'Dead letters'],
    ['/runbooks/regressions', 'Regressions'],
    ['/runbooks/tracks', 'Tracks'],
  ]),
  group('Reference', [
    ['/api/hosted', 'Hosted API'],
    ['/api/monitor', 'Monitor API'],
    ['/reference/cli', 'Command line'],
    ['/reference/environment', 'Environment'],
    ['/reference/workflow', 'Workflow'],
    ['/reference/block-reasons', 'Block reasons'],
    ['/errors', 'Errors'],
    ['/glossary', 'Glossary'],
  ]),
  group('Develop', [
    ['/architecture', 'Architecture'],
    ['/paths', 'Paths through the code'],
    ['/decisions/', 'Decisions'],
    ['/contributing', 'Contributing'],
    ['/releasing', 'Releases'],
    ['/changelog', 'Changes'],
  ]),
];

function group(text: string, pages: readonly (readonly [link: string, text: string])[]) {
  return { text, items: pages.map(([link, name]) => ({ link, text: name })) };
}
