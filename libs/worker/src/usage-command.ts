import { Command } from 'commander';

const EXIT_USAGE = 2;

/** A command that ends with 2 on wrong usage, unless another code is given. Commander alone gives 1. */
export class UsageCommand extends Command {
  override error(message: string, options?: Parameters<Command['error']>[1]): never {
    const { exitCode = 1 } = options ?? {};
    super.error(message, { ...options, exitCode: exitCode === 1 ? EXIT_USAGE : exitCode });
  }
}
