import type { ComponentProps } from 'react';
import { withoutRepeat } from './held-enter.ts';

interface PressButtonProps extends Omit<ComponentProps<'button'>, 'onClick' | 'disabled' | 'style'> {
  onPress?: (() => void) | undefined;
  isDisabled?: boolean | undefined;
}

/** The browser's own button: that of React Aria takes a fifth of the script and of the work of the first view. */
export function PressButton({ type = 'button', onPress, isDisabled, onKeyDown, ...props }: PressButtonProps) {
  return (
    <button
      {...props}
      type={type}
      disabled={isDisabled}
      onKeyDown={(event) => {
        withoutRepeat(event);
        onKeyDown?.(event);
      }}
      onClick={({ currentTarget, detail }) => {
        // Safari does not focus a pressed button: a dialog could not give the focus back. Without a pointer, Enter in a field presses
        // the button that sends, and the focus stays in the field.
        if (detail > 0) currentTarget.focus();
        onPress?.();
      }}
    />
  );
}
