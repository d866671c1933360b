//! Declarations, imports and exports.

use oxc_ast::ast::*;

use super::reader::Reader;
use crate::value::Value;

impl<'a> Reader<'a, '_> {
    /// A statement that declares. Functions are hoisted; types are nothing.
    pub fn declaration(&mut self, statement: &'a Statement<'a>) {
        if let Some(declaration) = statement.as_declaration() {
            return self.declared(declaration);
        }
        match statement {
            Statement::ImportDeclaration(it) => self.import(it),
            Statement::ExportDeclaration(it) => self.declared(&it.declaration),
            Statement::ExportDefaultDeclaration(it) => match &it.declaration {
                ExportDefaultDeclarationKind::ClassDeclaration(class) => self.declare_class(class),
                other => {
                    other.as_expression().map(|value| self.eval(value));
                }
            },
            Statement::ExportAllDeclaration(it) if it.export_kind == ImportOrExportKind::Value => {
                self.module(&it.source.value, it.source.span);
            }
            Statement::ExportFromDeclaration(it) if it.export_kind == ImportOrExportKind::Value => {
                self.module(&it.source.value, it.source.span);
            }
            Statement::TSExportAssignment(it) => {
                self.eval(&it.expression);
            }
            _ => {}
        }
    }

    fn declared(&mut self, declaration: &'a Declaration<'a>) {
        match declaration {
            Declaration::VariableDeclaration(it) => self.variables(it),
            Declaration::ClassDeclaration(it) => self.declare_class(it),
            Declaration::TSEnumDeclaration(it) => self.enumeration(it),
            Declaration::TSNamespaceDeclaration(it) => self.namespace(it),
            Declaration::TSImportEqualsDeclaration(it) => self.import_equals(it),
            _ => {}
        }
    }

    fn variables(&mut self, it: &'a VariableDeclaration<'a>) {
        if it.declare {
            return;
        }
        for declarator in &it.declarations {
            match &declarator.init {
                Some(init) => {
                    let value = self.eval(init);
                    self.bind(&declarator.id, &value);
                }
                None if it.kind == VariableDeclarationKind::Var => {}
                None => self.bind(&declarator.id, &Value::Nothing),
            }
        }
    }

    fn declare_class(&mut self, it: &'a Class<'a>) {
        if !it.declare {
            self.class(it);
        }
    }

    fn enumeration(&mut self, it: &'a TSEnumDeclaration<'a>) {
        let mut fields: Vec<(String, Value)> = Vec::new();
        let mut next = Some(0);
        for member in &it.body.members {
            let name = member.id.static_name().to_string();
            let value = match (&member.initializer, next) {
                (Some(value), _) => self.eval(value),
                (None, Some(number)) => Value::Number(number),
                (None, None) => Value::Unknown,
            };
            next = match &value {
                Value::Number(number) => number.checked_add(1),
                _ => None,
            };
            fields.push((name, value));
        }
        self.declare(&it.id, Value::Record(fields.into()));
    }

    fn namespace(&mut self, it: &'a TSNamespaceDeclaration<'a>) {
        if it.declare {
            return;
        }
        if let TSNamespaceDeclarationBody::TSModuleBlock(block) = &it.body {
            self.statements(&block.body);
            let mut fields = Vec::new();
            for statement in &block.body {
                if let Statement::ExportDeclaration(export) = statement {
                    for name in names(&export.declaration) {
                        fields.extend(
                            name.symbol_id
                                .get()
                                .map(|symbol| (name.name.to_string(), self.lookup(symbol))),
                        );
                    }
                }
            }
            self.declare(&it.id, Value::Record(fields.into()));
        }
    }

    fn import_equals(&mut self, it: &'a TSImportEqualsDeclaration<'a>) {
        if it.import_kind == ImportOrExportKind::Type {
            return;
        }
        if let TSModuleReference::ExternalModuleReference(reference) = &it.module_reference {
            let value = self.module(&reference.expression.value, it.span);
            self.declare(&it.id, value);
        }
    }

    fn import(&mut self, it: &'a ImportDeclaration<'a>) {
        let specifiers = it.specifiers.as_ref().map(|all| &all[..]);
        let is_unused = specifiers.is_some_and(|all| !all.is_empty() && all.iter().all(|one| self.is_type(one)));
        if it.import_kind == ImportOrExportKind::Type || is_unused {
            return;
        }
        let module = self.module(&it.source.value, it.source.span);
        for specifier in specifiers.unwrap_or_default() {
            let (local, value) = match specifier {
                ImportDeclarationSpecifier::ImportSpecifier(one) => {
                    let value = self.member(&module, &one.imported.name(), one.span);
                    (&one.local, value)
                }
                ImportDeclarationSpecifier::ImportDefaultSpecifier(one) => {
                    (&one.local, self.member(&module, "default", one.span))
                }
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(one) => (&one.local, module.clone()),
            };
            self.declare(local, value);
        }
    }

    /// Whether an import is of a type: said so, or used as nothing else (TypeScript leaves it out).
    fn is_type(&self, specifier: &ImportDeclarationSpecifier<'_>) -> bool {
        if let ImportDeclarationSpecifier::ImportSpecifier(one) = specifier
            && one.import_kind == ImportOrExportKind::Type
        {
            return true;
        }
        let Some(symbol) = specifier.local().symbol_id.get() else {
            return false;
        };
        let mut references = self.scoping.get_resolved_references(symbol).peekable();
        self.language == crate::language::Language::TypeScript
            && references.peek().is_some()
            && references.all(|reference| reference.flags().is_type_only())
    }
}

fn names<'b>(declaration: &'b Declaration<'b>) -> Vec<&'b BindingIdentifier<'b>> {
    match declaration {
        Declaration::VariableDeclaration(it) => {
            let ids = it.declarations.iter();
            ids.filter_map(|declarator| declarator.id.get_binding_identifier())
                .collect()
        }
        Declaration::FunctionDeclaration(it) => it.id.as_ref().into_iter().collect(),
        Declaration::ClassDeclaration(it) => it.id.as_ref().into_iter().collect(),
        Declaration::TSEnumDeclaration(it) => vec![&it.id],
        _ => Vec::new(),
    }
}
