/**
 * Finds every regular expression of a TypeScript source: literals, and `new RegExp(…)` of constants, templates and
 * their concatenation. Each comes with its line, so that a check can name its origin.
 */
import { parseSync } from '@swc/core';

export interface FoundPattern {
  line: number;
  /** Null when the text is computed from something that cannot be read from the source. */
  source: string | null;
  flags: string;
}

interface SyntaxNode {
  readonly type?: string;
  readonly span?: { readonly start: number };
  readonly [key: string]: unknown;
}

/** Stands for text that `RegExp.escape` made literal. */
const ESCAPED = 'escaped';

/** A first token at offset 0: swc counts offsets over all parses of a process and from the first token of a module. */
const PREFIX = ';';

export function patternsOf(source: string): FoundPattern[] {
  const text = PREFIX + source.replace(/^#!/, '//');
  const module = parseSync(text, { syntax: 'typescript' }) as unknown as SyntaxNode;
  const start = module.span?.start ?? 0;
  const bytes = Buffer.from(text);
  const lineOf = (node: SyntaxNode) =>
    bytes
      .subarray(0, (node.span?.start ?? start) - start)
      .toString('utf8')
      .split('\n').length;
  const constants = new Map<string, SyntaxNode>();
  walk(module, (node) => {
    const [id, init] = [node.id as SyntaxNode | undefined, node.init as SyntaxNode | undefined];
    if (node.type === 'VariableDeclarator' && init && typeof id?.value === 'string') constants.set(id.value, init);
  });
  const found: FoundPattern[] = [];
  walk(module, (node) => {
    if (node.type === 'RegExpLiteral') {
      found.push({ line: lineOf(node), source: String(node.pattern), flags: String(node.flags) });
    }
    if (!isRegExpCall(node)) return;
    const [pattern, flags] = (node.arguments as { expression: SyntaxNode }[]).map(({ expression }) =>
      textOf(expression, constants),
    );
    found.push({ line: lineOf(node), source: pattern ?? null, flags: flags ?? '' });
  });
  return found;
}

const isRegExpCall = ({ type, callee }: SyntaxNode): boolean =>
  (type === 'NewExpression' || type === 'CallExpression') && (callee as SyntaxNode | undefined)?.value === 'RegExp';

/** The text of an expression of constants; null when it is not one. */
function textOf(node: SyntaxNode, constants: ReadonlyMap<string, SyntaxNode>): string | null {
  const read = (part: unknown) => textOf(part as SyntaxNode, constants);
  switch (node.type) {
    case 'StringLiteral':
      return String(node.value);
    case 'RegExpLiteral':
      return String(node.pattern);
    case 'ParenthesisExpression':
      return read(node.expression);
    case 'TemplateLiteral': {
      const quasis = (node.quasis as { cooked: string }[]).map(({ cooked }) => cooked);
      const between = (node.expressions as unknown[]).map(read);
      return joined(quasis.flatMap((text, index) => [text, ...between.slice(index, index + 1)]));
    }
    case 'BinaryExpression':
      return node.operator === '+' ? joined([read(node.left), read(node.right)]) : null;
    case 'Identifier': {
      const init = constants.get(String(node.value));
      return init ? read(init) : null;
    }
    case 'MemberExpression':
      return (node.property as SyntaxNode).value === 'source' ? read(node.object) : null;
    case 'CallExpression':
      return isEscape(node.callee as SyntaxNode) ? ESCAPED : null;
    default:
      return null;
  }
}

const isEscape = ({ type, object, property }: SyntaxNode): boolean =>
  type === 'MemberExpression' &&
  (object as SyntaxNode).value === 'RegExp' &&
  (property as SyntaxNode).value === 'escape';

const joined = (parts: readonly (string | null)[]): string | null => (parts.includes(null) ? null : parts.join(''));

function walk(node: SyntaxNode, visit: (node: SyntaxNode) => void): void {
  visit(node);
  for (const child of Object.values(node)) {
    for (const part of Array.isArray(child) ? child : [child]) {
      if (part !== null && typeof part === 'object') walk(part as SyntaxNode, visit);
    }
  }
}
