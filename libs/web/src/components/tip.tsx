import { lazy, type ReactElement, type ReactNode, Suspense } from 'react';
import { usePainted } from '../timing/use-painted.ts';

const Tooltip = lazy(() => import('./tooltip.tsx'));

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
