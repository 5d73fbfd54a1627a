import { z } from 'zod';
import {
  BLOCK_REASONS,
  BUILT_IN_WARN_AFTER_MINUTES,
  DEFAULT_WORKFLOW,
  PipelineConfig,
  STATES,
  type WorkflowSnapshot,
} from '../src/index.ts';
import { GENERATED, table } from './markdown.ts';
import { metricsPage } from './metrics-page.ts';

/** The generated pages: file name under docs -> text. */
export const referenceDocuments = (): Record<string, string> => ({
  'metrics.md': metricsPage(),
  'reference/pipeline-config.schema.json': configSchema(),
  'reference/workflow.md': workflowPage(DEFAULT_WORKFLOW),
  'reference/block-reasons.md': blockReasonsPage(),
});

/**
 * Returns the JSON schema for editors: the input form, in which keys with a default are optional. Draft 7, which all
 * editors support.
 */
function configSchema(): string {
  const schema = z.toJSONSchema(PipelineConfig, { io: 'input', target: 'draft-7' });
  const titled = { $schema: schema.$schema, title: 'Pipeline configuration (PIPELINE_CONFIG)', ...schema };
  return `${JSON.stringify(titled, null, 2)}\n`;
}

function workflowPage(workflow: WorkflowSnapshot): string {
  return [
    GENERATED,
    '# Workflow',
    `The default workflow of a repo (version ${workflow.version}). A repo can have its own workflow; its edges are also the valid targets of a manual transition. Host events (merge, close, reopen) and cancellation bypass the edges.`,
    `\`\`\`mermaid\n${diagram(workflow)}\n\`\`\``,
    '## States',
    "The built-in warning limit applies where neither `warnAfterMinutes` of the repo's own workflow nor `sla.warnAfterMinutes` of the configuration sets one.",
    table(
      ['state', 'kind', 'task', 'built-in warning limit'],
      workflow.states.map((state) => [
        `\`${state.name}\``,
        state.kind,
        state.taskType ?? '-',
        limitText(BUILT_IN_WARN_AFTER_MINUTES[state.name]),
      ]),
    ),
    '## Edges',
    table(['from', 'to', 'triggers'], edgeRows(workflow)),
    '',
  ].join('\n\n');
}

const limitText = (minutes: number | null): string => (minutes === null ? '-' : `${minutes} min`);

/** One row per pair of states, in the order of the states. */
function edgeRows(workflow: WorkflowSnapshot): string[][] {
  return STATES.flatMap((from) =>
    STATES.flatMap((to) => {
      const triggers = workflow.edges
        .filter((edge) => edge.from === from && edge.to === to)
        .map((edge) => edge.trigger);
      return triggers.length === 0 ? [] : [[`\`${from}\``, `\`${to}\``, triggers.join(', ')]];
    }),
  );
}

/** State names contain hyphens, which the diagram's ids must not. */
const id = (state: string): string => state.replaceAll('-', '_');

function diagram(workflow: WorkflowSnapshot): string {
  const edges = edgeRows(workflow).map(([from = '', to = '', triggers = '']) => {
    const [start, end] = [from, to].map((cell) => id(cell.replaceAll('`', '')));
    return `  ${start} --> ${end}: ${triggers}`;
  });
  return [
    'stateDiagram-v2',
    ...workflow.states.map((state) => `  state "${state.name}" as ${id(state.name)}`),
    '  [*] --> new',
    ...edges,
    '  done --> [*]',
  ].join('\n');
}

function blockReasonsPage(): string {
  const rows = Object.entries(BLOCK_REASONS).map(([reason, info]) => [
    `\`${reason}\``,
    info.classification,
    info.sentence,
    info.remedy,
  ]);
  return [
    GENERATED,
    '# Block reasons',
    'Why an issue is blocked: `blockReason` on both surfaces. The set is open; clients must accept unknown codes. The class is the default of the reason; three occurrences of the same error make a block `permanent`. Only `transient` blocks are unblocked automatically.',
    table(['reason', 'class', 'meaning', 'remedy'], rows),
    '',
  ].join('\n\n');
}
