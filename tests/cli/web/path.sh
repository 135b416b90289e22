mkdir page
echo hello >page/index.html
bloomery web --path --dir page | sed "s|.*/page/|page/|"
