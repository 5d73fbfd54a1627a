import type { ReactNode } from 'react';

/** A long text that scrolls within its box, also by keyboard. */
export const ScrolledText = ({ className, children }: { className: string | undefined; children: ReactNode }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: keys scroll only what has the focus.
  <pre className={className} tabIndex={0}>
    {children}
  </pre>
);
