import { readFileSync } from 'node:fs';
import type { TaskType } from '@pipeline/domain';
import { AgentFailure } from '../agents/failures.ts';
import { PLACEHOLDERS, type Placeholder, type Sections } from './sections.ts';

/** Task types that an agent works on; the others need no model. */
export const AGENT_TASKS = ['analyze', 'plan', 'develop', 'review', 'retrospect'] as const;
export type AgentTask = (typeof AGENT_TASKS)[number];

export const isAgentTask = (taskType: TaskType): taskType is AgentTask =>
  (AGENT_TASKS as readonly string[]).includes(taskType);

/** Path of a template in a repository, which replaces the one of the package. */
export const templatePath = (task: AgentTask): string => `.pipeline/prompts/${task}.md`;

/** Returns the template of the package. */
export const packageTemplate = (task: AgentTask): string =>
  readFileSync(new URL(`./templates/${task}.md`, import.meta.url), 'utf8');

const MAX_TEMPLATE = 100_000;
const PLACEHOLDER = /\{\{(\w{1,40})\}\}/g;

/**
 * Fills a template. The rules and the request for the verdict are added when the template does not contain them.
 * @throws AgentFailure naming an unknown placeholder.
 */
export function renderPrompt(template: string, sections: Sections, origin: string): string {
  const used = new Set<string>();
  const text = template.slice(0, MAX_TEMPLATE).replace(PLACEHOLDER, (_, name: string) => {
    if (!isPlaceholder(name))
      throw new AgentFailure(
        'permanent',
        `${origin}: {{${name}}} is not known; use one of: ${PLACEHOLDERS.join(', ')}`,
      );
    used.add(name);
    return sections[name];
  });
  const required = (['rules', 'verdict'] as const).filter((name) => !used.has(name)).map((name) => sections[name]);
  return `${[text.trim(), ...required].join('\n\n').replace(/\n{3,}/g, '\n\n')}\n`;
}

const isPlaceholder = (name: string): name is Placeholder => (PLACEHOLDERS as readonly string[]).includes(name);
