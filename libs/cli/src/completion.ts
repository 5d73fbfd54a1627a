import type { Command } from 'commander';
import { type LocalSession, leaf, type Run } from './command/command.ts';
import { UsageError } from './command/errors.ts';

/** Words that may follow the commands given so far: `admin org` -> `create list show`. */
type Words = readonly [path: string, words: string][];

const SHELLS: Readonly<Record<string, (words: Words) => string>> = { bash, zsh, fish };

/** Adds the command that prints the completion of a shell; the words are those of the program. */
export function completionCommand(program: Command, run: Run<LocalSession>): void {
  leaf<object, LocalSession>(program, run, {
    usage: 'completion <shell>',
    description:
      'print the completion script of bash, zsh or fish; add `source <(pipeline completion bash)` to ~/.bashrc',
    writes: false,
    async action(_session, [shell = '']) {
      const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
      if (!script) throw new UsageError(`the shell must be one of ${Object.keys(SHELLS).join(', ')}`);
      const text = script(wordsOf(program, ''));
      return { data: { shell, script: text }, text };
    },
  });
}

function wordsOf(command: Command, path: string): Words {
  const options = command.options.map(({ long }) => long ?? '');
  const words = [...command.commands.map((child) => child.name()), ...options, '--help'].join(' ');
  return [[path, words], ...command.commands.flatMap((child) => wordsOf(child, `${path} ${child.name()}`.trim()))];
}

/** A `case` statement that sets `list`; names of commands and options contain no characters of the shell. */
const cases = (words: Words): string => words.map(([path, list]) => `    '${path}') list='${list}' ;;`).join('\n');

/** Joins the words of the line that name commands into `route`; options and arguments are left out. */
const routeOf = (words: Words, line: string): string => `  local word route='' list=''
  for word in ${line}; do
    case "\${route:+$route }$word" in
    ${pathsOf(words).join('|')}) route="\${route:+$route }$word" ;;
    esac
  done
  case "$route" in
${cases(words)}
  esac`;

const pathsOf = (words: Words): string[] => words.slice(1).map(([path]) => `'${path}'`);

function bash(words: Words): string {
  return `_pipeline() {
${routeOf(words, `"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`)}
  mapfile -t COMPREPLY < <(compgen -W "$list" -- "\${COMP_WORDS[COMP_CWORD]}")
}
complete -o default -F _pipeline pipeline`;
}

function zsh(words: Words): string {
  return `#compdef pipeline
_pipeline() {
${routeOf(words, `"\${(@)words[2,CURRENT-1]}"`)}
  compadd -- \${=list} || _files
}
compdef _pipeline pipeline`;
}

function fish(words: Words): string {
  const rows = words.map(([path, list]) => `    case '${path}'\n      string split ' ' -- '${list}'`);
  return `function __pipeline_words
  set -l path ''
  for word in (commandline -opc)[2..]
    set -l next (string trim -- "$path $word")
    contains -- "$next" ${pathsOf(words).join(' ')}; and set path $next
  end
  switch "$path"
${rows.join('\n')}
  end
end
complete -c pipeline -f -a '(__pipeline_words)'`;
}
