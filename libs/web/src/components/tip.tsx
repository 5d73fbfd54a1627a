import { lazy, type ReactElement, type ReactNode, Suspense } from 'react';
import { usePainted } from '../timing/use-painted.ts';

/** A page works without its tooltips: their code may not arrive when the connection is cut. */
const Tooltip = lazy(() => import('./tooltip.tsx').catch(() => ({ default: ({ children }: TipProps) => children })));

interface TipProps {
  /** A focusable element that takes props and ref, such as a button. */
  children: ReactElement;
  text: ReactNode;
}

/** A text shown on hover and on focus. Its code is loaded after the first view. */
export function Tip({ children, text }: TipProps) {
  if (!usePainted()) return children;
  return (
    <Suspense fallback={children}>
      <Tooltip text={text}>{children}</Tooltip>
    </Suspense>
  );
}
