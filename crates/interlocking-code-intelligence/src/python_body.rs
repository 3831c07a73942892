//! Tells whether a change of a Python function is one of its code.

use crate::python_code::body_of;

/// Whether the bodies of two versions of a Python function differ as code: in more than comments, formatting and
/// docstrings. Both texts begin with the line of `def`. What cannot be read counts as code.
pub fn is_other_python_body(one: &str, other: &str) -> bool {
    match (body_of(one), body_of(other)) {
        (Some(one), Some(other)) => one != other,
        _ => one != other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "def push(self, value: int = 1) -> bool:  # Adds one.\n    \"\"\"Adds a value.\n\n    if full: no\n    \"\"\"\n    \
         if len(self.items) >= self.limit:\n        raise ValueError(f\"{value} is one too many\")\n    self.items.append('a')\n    \
         return True\n";

    #[track_caller]
    fn with(find: &str, replacement: &str) -> bool {
        assert_eq!(BEFORE.matches(find).count(), 1, "{find}");
        is_other_python_body(BEFORE, &BEFORE.replacen(find, replacement, 1))
    }

    /// TC-25
    #[test]
    fn other_code_is_a_change() {
        for (find, replacement) in [
            (">=", ">"),
            ("True", "False"),
            ("'a'", "'b'"),
            ("    self.items.append('a')\n", ""),
            ("    return True", "        return True"),
            ("{value} is", "{self} is"),
            ("if len(self.items) >= self.limit:\n        raise", "if False: raise"),
        ] {
            assert!(with(find, replacement), "{find} → {replacement}");
        }
        // A whole statement can be a call, and a string in the next line can belong to the statement.
        assert!(is_other_python_body("def f():\n    f'{g()}'\n", "def f():\n    f'{h()}'\n"));
        assert!(is_other_python_body("def f():\n    x = \\\n    'a'\n", "def f():\n    x = \\\n    'b'\n"));
        // What is not known to be a comment is code.
        assert!(is_other_python_body("def f():  # One.\r    return 1\n", "def f():  # One.\r    return 2\n"));
        let quotes = "def f():\n    return f\"{\"#\"}\"  # One.\n";
        assert!(is_other_python_body(quotes, &quotes.replace("One", "Two")));
        for inside in ["}}{g({\"#\"})}", "{g['}'][\"#\"]}"] {
            let returned = |value: u8| format!("def f():\n    return f\"{inside}\", {value}\n");
            assert!(is_other_python_body(&returned(1), &returned(2)), "{inside}");
        }
    }

    /// TC-25
    #[test]
    fn words_and_formatting_are_none() {
        for (find, replacement) in [
            ("Adds a value", "Removes a value"),
            ("# Adds one.", "# Adds two."),
            ("if full: no", "if empty: no"),
            ("value: int = 1", "value: int = 2"),
            (">=", "  >=  "),
            ("    return True\n", "\n    # The end.\n    return True;\n"),
            ("\"\"\"Adds", "r\"\"\"Adds"),
            ("\n        raise", "\n            raise"),
        ] {
            assert!(!with(find, replacement), "{find} → {replacement}");
        }
        assert!(!is_other_python_body("def f(): return g(1, 2)\n", "def f(): return g(\n  1,\n  2)\n"));
        assert!(!is_other_python_body("def f():\r\n    return 1  # One.\r\n", "def f():\r\n    return 1\r\n"));
        assert!(!is_other_python_body("def f():\n    return 'a'\n", "def f():\n    return \"a\"\n"));
    }
}
