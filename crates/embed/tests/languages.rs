//! Chinese, Japanese and Korean passages are found by the vectors of the built-in table, by other words than their own.

use tamis_embed::{Embedder, StaticModel, dot};

/// Queries, each with the passage that answers it. The passages of a language are each other's distractors.
const CHINESE: &[(&str, &str)] = &[
    ("打印机没有反应怎么办", "如果输出任务卡住,请检查打印设备是否已连接并开机。"),
    ("忘记登录密码", "您可以在用户账户面板中重设口令。"),
    ("怎样连接 Wi-Fi", "点击无线图标,选择要加入的热点并输入密钥。"),
    ("删除文档", "不再需要的文件可以移到回收站,随后清空。"),
    ("调整屏幕亮度", "在电源面板中拖动滑块,可使显示器变暗。"),
    ("在表格中求和", "使用 SUM 函数可将单元格区域内的数值相加。"),
    ("更改字体大小", "选中文本后,在字符对话框中指定字号。"),
    ("插入图片", "要在页面上放置图像,请选择菜单中的相应命令。"),
];

const JAPANESE: &[(&str, &str)] = &[
    ("プリンターが動かない", "印刷ジョブが止まったときは、装置の電源と接続を確認してください。"),
    ("ログインのパスワードを忘れた", "ユーザーアカウントの設定で暗証を変更できます。"),
    ("Wi-Fi につなぐ", "無線ネットワークの一覧から接続先を選び、キーを入力します。"),
    ("ドキュメントを消す", "不要なファイルはゴミ箱に移動して削除します。"),
    ("画面の明るさ", "電源パネルのスライダーでディスプレイの輝度を調整します。"),
    ("表で合計を求める", "SUM 関数はセル範囲の数値を足します。"),
    ("文字の大きさを変える", "テキストを選択し、フォントサイズを指定します。"),
    ("写真を入れる", "ページに画像を挿入するには、メニューのコマンドを選びます。"),
];

const KOREAN: &[(&str, &str)] = &[
    ("프린터가 동작하지 않아요", "인쇄 작업이 멈추면 장치가 켜져 있고 연결되어 있는지 확인하십시오."),
    ("로그인 암호를 잊었습니다", "사용자 계정 설정에서 비밀번호를 바꿀 수 있습니다."),
    ("와이파이 접속", "무선 네트워크 목록에서 연결할 대상을 선택하고 키를 입력합니다."),
    ("문서 지우기", "필요 없는 파일은 휴지통으로 옮겨 삭제합니다."),
    ("화면 밝기", "전원 창의 슬라이더로 디스플레이를 어둡게 조절합니다."),
    ("표에서 합계 구하기", "SUM 함수는 셀 범위의 숫자를 더합니다."),
    ("글자 크기 바꾸기", "텍스트를 선택한 다음 글꼴의 크기를 지정합니다."),
    ("사진 넣기", "페이지에 그림을 삽입하려면 메뉴에서 명령을 고릅니다."),
];

/// Returns the mean reciprocal rank of the passages that answer.
fn reciprocal_rank(pairs: &[(&str, &str)]) -> f32 {
    let model = StaticModel::built_in();
    let passages: Vec<&str> = pairs.iter().map(|(_, passage)| *passage).collect();
    let vectors = model.embed_passages(&passages).unwrap();
    let ranks = pairs.iter().enumerate().map(|(at, (query, _))| {
        let query = model.embed_query(query).unwrap();
        let own = dot(&query, &vectors[at]);
        1.0 / (vectors.iter().filter(|vector| dot(&query, vector) > own).count() + 1) as f32
    });
    ranks.sum::<f32>() / pairs.len() as f32
}

/// A random order of eight passages has a mean of 0.34.
#[test]
fn passages_in_east_asian_languages_are_found_by_other_words() {
    for (language, pairs) in [("Chinese", CHINESE), ("Japanese", JAPANESE), ("Korean", KOREAN)] {
        let mean = reciprocal_rank(pairs);
        println!("{language}: mean reciprocal rank {mean:.3}");
        assert!(mean >= 0.6, "{language}: mean reciprocal rank {mean}");
    }
}
